"""Every file of pgm and what it is about, room by room: `python docs/rooms.py` prints it, the site shows it.

What a file is about is the first line of its docstring. The order of the rooms is that of the layers in
pyproject.toml, so that each room imports only what stands above it here.
"""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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
    """Return what a file says of itself."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def tables() -> str:
    """Return a table for each room."""
    lines = []
    for room in rooms():
        lines += [f"## {room}", "", "| file | what it is about |", "| --- | --- |"]
        for path in files(room):
            said = about(path).replace("|", r"\|")
            lines.append(f"| `{path.relative_to(ROOT).as_posix()}` | {said} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables())
