"""Every system of the catalogue that works, and the tests that check it.

`python docs/catalogue.py` prints the page, with `--write` it writes docs/catalogue.md. A row works if a test
has its id in its name, such as `test_C13_explaining_away`; what of pgm it takes is read from that test. The
names of rows stand in the catalogue, the folder `shared/catalogue` beside the project.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT.parent / "shared" / "catalogue"
PAGE = ROOT / "docs" / "catalogue.md"
_ROW = re.compile(r"^\| *([A-G]\d+) *\| *(.*?) *\| ", re.MULTILINE)
_IDS = re.compile(r"test((?:_[A-G]\d+[a-z]?)+)_")
_ROOMS = ("adapters", "evaluation", "priors", "engines")
_COMMON = {"config", "set_config", "PGMError"}
_MOST = 4  # names of pgm that are shown of a row
_HEAD = (
    "# What works\n\n"
    "Each system of the project's catalogue that works, what of `pgm` does it, and the tests that check it "
    "against a worked number, a closed\nform, brute force or another library: `pytest -k C13_` runs those of "
    "row C13. Where two rows say the same, they share a test. This page is\nmade from the tests, by "
    "`python docs/catalogue.py --write`.\n"
)


def names() -> dict[str, str]:
    """Return what each row of the catalogue is called, by its id."""
    found = {}
    for path in sorted(CATALOGUE.glob("[A-G].md")):
        for row, name in _ROW.findall(path.read_text(encoding="utf-8")):
            found.setdefault(row, name)
    return found


def tests() -> dict[str, list[tuple[str, str, list[str]]]]:
    """Return the tests of each row: file, name, and the public names of pgm that it takes."""
    found: dict[str, list[tuple[str, str, list[str]]]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        here = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imported = _imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (ids := _IDS.match(node.name + "_")):
                taken = _taken(node, here, imported)
                for row in ids[1].split("_")[1:]:
                    place = path.relative_to(ROOT / "tests").as_posix()
                    found.setdefault(row.rstrip("abcdefghij"), []).append((place, node.name, taken))
    return found


def _imported(tree: ast.Module) -> dict[str, str]:
    """The public names that a file imports from rooms of pgm."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pgm":
            for each in node.names:
                room = node.module.partition(".")[2].split(".")[0]
                for name in (f"{room}.{each.name}", each.name):
                    if name in _available():
                        found[each.asname or each.name] = name
                        break
    return found


def _taken(node: ast.FunctionDef, here: dict[str, ast.AST], imported: dict[str, str]) -> list[str]:
    """Names of pgm in a test, and in what it calls of its own file; networks last."""
    direct, helped, asked, seen, todo = [], [], [], {node.name}, [node]
    while todo:
        one = todo.pop()
        for inner in ast.walk(one):
            name = None
            if isinstance(inner, ast.Attribute):
                name = _public(inner, imported)
            elif isinstance(inner, ast.Name):
                name = imported.get(inner.id)
                if inner.id in here and inner.id not in seen:
                    seen.add(inner.id)
                    todo.append(here[inner.id])
            if name:
                (direct if one is node else helped).append(name)
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                asked += [f"BayesianNetwork.{inner.func.attr}"] if inner.func.attr in _methods() else []
    found = list(dict.fromkeys(direct + helped)) or list(dict.fromkeys(asked))
    return sorted(found, key=lambda name: name in ("BayesianNetwork", "MarkovNetwork", "FactorGraph"))


def _public(node: ast.Attribute, imported: dict[str, str]) -> str | None:
    """`pgm.x` as "x", `pgm.room.x` and `room.x` as "room.x"; None: it is not of pgm, or an error."""
    value, name = node.value, None
    if isinstance(value, ast.Name) and value.id == "pgm":
        name = node.attr
    elif isinstance(value, ast.Name) and imported.get(value.id) in _ROOMS:
        name = f"{imported[value.id]}.{node.attr}"
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "pgm":
        name = f"{value.attr}.{node.attr}"
    return name if name in _available() else None


@cache
def _available() -> set[str]:
    import pgm

    found = set()
    for name in (*pgm.__all__, *_ROOMS):
        value = getattr(pgm, name)
        if name in _ROOMS:
            found |= {name, *(f"{name}.{inner}" for inner in getattr(value, "__all__", dir(value)))}
        elif not (isinstance(value, type) and issubclass(value, Exception)) and name not in _COMMON:
            found.add(name)
    return found


@cache
def _methods() -> set[str]:
    import pgm

    return {name for name in vars(pgm.BayesianNetwork) if not name.startswith("_")}


def page() -> str:
    """Return the page."""
    called, found = names(), tests()
    rows = sorted((row for row in found if row in called), key=lambda row: (row[0], int(row[1:])))
    lines = [_HEAD, f"{len(rows):,} of {len(called):,} rows.", ""]
    lines += ["| id | system | in pgm | tests |", "| --- | --- | --- | --- |"]
    for row in rows:
        taken = list(dict.fromkeys(name for _, _, each in found[row] for name in each if name not in _ROOMS))
        more = f" and {len(taken) - _MOST} more" if len(taken) > _MOST else ""
        shown = ", ".join(f"`{name}`" for name in taken[:_MOST]) + more
        files: dict[str, list[str]] = {}
        for file, test, _ in found[row]:
            files.setdefault(file, []).append(test)
        said = "; ".join(
            f"`{file}`: {', '.join(f'`{name}`' for name in each)}" for file, each in files.items()
        )
        lines.append(f"| {row} | {_plain(called[row])} | {shown} | {said} |")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", r"\*")


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
