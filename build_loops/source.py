"""Reads a file of loops: its functions, its constants, and the names of kinds that annotations use."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from build_loops.kinds import ENTRIES, Array, Kind, Record, Several

# Kinds in messages: as Python calls them.
_SAID = {
    r"\bi64\b": "int",
    r"\bdouble\b": "float",
    r"\bu64\b": "uint64",
    r"\bR_(\w+)": r"\1",
    r"\bstd::tuple<": "tuple<",
}


class Refused(Exception):
    """Something that the translator does not take, with its file and line."""


class Source:
    """A parsed module. Names that it imports are looked up in the modules that they come from."""

    _read: dict[Path, Source] = {}  # noqa: RUF012  each is parsed once

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root = path, root
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.functions: dict[str, ast.FunctionDef] = {}
        self.constants: dict[str, int | float] = {}
        self.imported: dict[str, str] = {}
        self.defined: dict[str, ast.expr | ast.ClassDef] = {}
        for node in _outside_functions(self.tree.body):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pgm."):
                self.imported.update({a.asname or a.name: node.module for a in node.names})
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                if node.decorator_list:
                    raise self.refuse(node, f"{node.name} has a decorator, which no loop has")
                self.functions[node.name] = node
            elif isinstance(node, ast.ClassDef):
                self.defined[node.name] = node
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._constant(node.targets[0], node.value)

    def _constant(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.defined[target.id] = value
        try:
            code = compile(ast.Expression(value), str(self.path), "eval")
            found = eval(code, {"__builtins__": {"range": range}}, dict(self.constants))
        except Exception:  # an alias of a kind, or words
            return
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        for name, each in zip(names, found if isinstance(target, ast.Tuple) else [found], strict=True):
            if isinstance(name, ast.Name) and isinstance(each, int | float):
                self.constants[name.id] = each

    @classmethod
    def of(cls, path: Path, root: Path) -> Source:
        if path not in cls._read:
            cls._read[path] = cls(path, root)
        return cls._read[path]

    def refuse(self, node: ast.AST, why: str) -> Refused:
        for spelled, said in _SAID.items():
            why = re.sub(spelled, said, why)
        return Refused(f"{self.path.relative_to(self.root)}:{getattr(node, 'lineno', 1)}: {why}")

    def home_of(self, name: str) -> Source | None:
        """The module in which a name is defined."""
        if name in self.defined:
            return self
        if name not in self.imported:
            return None
        stem = self.root.joinpath(*self.imported[name].split("."))
        path = stem.with_suffix(".py") if stem.with_suffix(".py").exists() else stem / "__init__.py"
        return Source.of(path, self.root).home_of(name)

    def kind(self, note: ast.expr) -> Kind:
        """The kind that an annotation names: a number, an alias of an annotated array, or a named tuple."""
        if not isinstance(note, ast.Name):
            raise self.refuse(note, f"an annotation is the name of a kind, not {ast.unparse(note)}")
        if note.id in ("int", "float", "bool"):
            return {"int": "i64", "float": "double", "bool": "bool"}[note.id]
        home = self.home_of(note.id)
        if home is None:
            raise self.refuse(note, f"no kind of value is named {note.id}")
        found = home.defined[note.id]
        if isinstance(found, ast.ClassDef):
            if [ast.unparse(b) for b in found.bases] != ["NamedTuple"]:
                raise home.refuse(found, f"{note.id} is no NamedTuple")
            fields = [x for x in found.body if isinstance(x, ast.AnnAssign)]
            return Record(note.id, tuple((ast.unparse(x.target), home.kind(x.annotation)) for x in fields))
        if isinstance(found, ast.Subscript) and isinstance(found.slice, ast.Tuple):
            if ast.unparse(found.value) == "tuple":
                return Several(tuple(home.kind(x) for x in found.slice.elts))
            _, entry, axes = ast.literal_eval(ast.Tuple([ast.Constant(0), *found.slice.elts[1:]], ast.Load()))
            if entry in ENTRIES:
                return Array(entry, axes)
        raise home.refuse(found, f"{note.id} is not Annotated[np.ndarray, entries, axes]")

    def made_from(self) -> list[tuple[str, str]]:
        """The files that the compiled form depends on: this one and those of its kinds, with digests."""
        homes = [self.home_of(name) for name in self.imported]
        files = sorted({self.path, *(home.path for home in homes if home)})
        return [(path.relative_to(self.root).as_posix(), digest(path)) for path in files]


def _outside_functions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a module, those under `if TYPE_CHECKING`, too."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _outside_functions([*node.body, *node.orelse])


def digest(path: Path) -> str:
    """What tells whether a file has changed."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]
