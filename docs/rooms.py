"""Every file of pgm and what it is about, room by room: `python docs/rooms.py` prints it, the site shows it.

What a file is about is the first line of its docstring. The order of the rooms is that of the layers in
pyproject.toml, so that each room imports only what stands above it here. The map of the folders stands in
docs/developer/rooms.md itself: `python docs/rooms.py --write` after a folder is added or renamed.
"""

import ast
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "developer" / "rooms.md"
BEGIN, END = "<!-- map -->\n", "<!-- end of the map -->\n"


def rooms() -> list[str]:
    """Return the rooms of pgm, inference by its floors, each after all that it may import."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = {
        tuple(c["containers"]): c["layers"][::-1] for c in settings["tool"]["importlinter"]["contracts"]
    }
    order = []
    for layer in layers["pgm",]:
        floors = layers.get((f"pgm.{layer}",), []) if layer == "inference" else []
        order += [f"{layer}/{floor}" for floor in floors] or [layer]
    return [room for room in order if files(room)]


def files(room: str) -> list[Path]:
    """Return the files of a room: one, or those of a folder."""
    alone = ROOT / "pgm" / f"{room}.py"
    return [alone] if alone.exists() else sorted((ROOT / "pgm" / room).rglob("*.py"))


def about(path: Path) -> str:
    """Return what a file says of itself, as a cell of a table."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", r"\|")


def tables() -> str:
    """Return a table for each room."""
    lines = []
    for room in rooms():
        lines += [f"## {room}", "", "| file | what it is about |", "| --- | --- |"]
        for path in files(room):
            lines.append(f"| `{path.relative_to(ROOT).as_posix()}` | {about(path)} |")
        lines.append("")
    return "\n".join(lines)


def house() -> str:
    """Return the map: every folder, and every file that is a room by itself, in the order of the layers."""
    lines = ["| where | what is there |", "| --- | --- |"]
    for room in rooms():
        at = ROOT / "pgm" / room
        if room.startswith("inference/") and not any("pgm/inference/`" in line for line in lines):
            lines.append(f"| `pgm/inference/` | {about(at.parent / '__init__.py')} |")
        if not at.is_dir():
            lines.append(f"| `pgm/{room}.py` | {about(at.with_suffix('.py'))} |")
            continue
        for path in sorted(at.rglob("__init__.py")):
            lines.append(f"| `{path.parent.relative_to(ROOT).as_posix()}/` | {about(path)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Return the page with the map of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{house()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(tables())
