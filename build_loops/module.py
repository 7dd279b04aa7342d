"""Turns a whole file of loops into one C++ extension module."""

from __future__ import annotations

import ast
from pathlib import Path

from build_loops.kinds import Array, Kind, Record, Several, has_record
from build_loops.source import Source
from build_loops.translate import Function

_RUNTIME = Path(__file__).with_name("loops.hpp")


class Module:
    """The functions of one file, each for the kinds of arguments that it is called with."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.made: dict[tuple[str, tuple[Kind, ...]], Function] = {}
        self.records: dict[str, Record] = {}

    def use(self, kind: Kind) -> None:
        """Note the named tuples in a kind."""
        if isinstance(kind, Record) and kind.name not in self.records:
            for _, each in kind.fields:
                self.use(each)
            self.records[kind.name] = kind
        for each in kind.items if isinstance(kind, Several) else ():
            self.use(each)

    def loop(self, node: ast.AST, name: str, kinds: list[Kind], caller: Function | None = None) -> Function:
        """A function for these kinds of arguments, with its inference finished but where it calls itself."""
        definition = self.source.functions[name]
        plain = ast.arguments([], definition.args.args, None, [], [], None, [])
        if ast.dump(plain) != ast.dump(definition.args):
            raise self.source.refuse(
                definition, f"{name} may have arguments with names only: no *, no defaults"
            )
        if len(definition.args.args) != len(kinds):
            raise self.source.refuse(node, f"{name} takes {len(definition.args.args)} arguments")
        key = (name, tuple(kinds))
        if key not in self.made:
            made = Function(self, definition, f"{name}_{len(self.made)}", kinds)
            for kind in kinds:
                self.use(kind)
            self.made[key] = made
            while made.once():
                pass
            made.finish()
            del self.made[key]  # callees first
            self.made[key] = made
        return self.made[key]

    def exports(self) -> dict[str, Function]:
        """The functions that Python calls: all whose arguments are annotated, as those without _ must be."""
        found = {}
        for name, node in self.source.functions.items():
            notes = [a.annotation for a in node.args.args if a.annotation]
            if len(notes) == len(node.args.args):
                found[name] = made = self.loop(node, name, [self.source.kind(note) for note in notes])
                if has_record(made.result):
                    raise self.source.refuse(
                        node, f"{name} returns a named tuple, which Python cannot be given"
                    )
            elif not name.startswith("_"):
                raise self.source.refuse(node, f"{name} is called by Python, so its arguments are annotated")
        return found

    def text(self) -> str:
        """The C++ of the module."""
        exports = self.exports()
        records = [_struct(r) for r in self.records.values()]
        heads = [f"static {f.head()};" for f in self.made.values()]
        bodies = [f.code for f in self.made.values()]
        doors = [_door(name, f) for name, f in exports.items()]
        entry = '    {{"{0}", (PyCFunction)(void (*)(void))py_{0}, METH_FASTCALL, nullptr}},'
        rows = [entry.format(name) for name in exports]
        table = ["static PyMethodDef methods[] = {", *rows, "    {nullptr, nullptr, 0, nullptr}};"]
        start = f'#include "{_RUNTIME.name}"'
        parts = [start, *records, "\n".join(heads), *bodies, *doors, "\n".join(table), _END]
        return "\n\n".join(parts)


_END = """static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void*)begin}, {0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "loops", nullptr, 0, methods, slots};
PyMODINIT_FUNC PyInit_loops(void) { return PyModuleDef_Init(&definition); }
"""


def _struct(record: Record) -> str:
    return "\n".join([f"struct {record} {{", *(f"    {k} f_{n};" for n, k in record.fields), "};"])


def _door(name: str, function: Function) -> str:
    """The function that Python calls: it takes the arguments apart and wraps the result."""
    takes, passed, declared = [], [], []

    def argument(kind: Kind, place: str, label: str, given: str) -> None:
        if isinstance(kind, Record):
            takes.append(f'fields(given, {given}, {len(kind.fields)}, "{label}")')
            for i, (part, each) in enumerate(kind.fields):
                argument(each, f"{place}.f_{part}", f"{label}.{part}", f"PyTuple_GetItem({given}, {i})")
        elif isinstance(kind, Several):
            takes.append(f'fields(given, {given}, {len(kind.items)}, "{label}")')
            for i, each in enumerate(kind.items):
                argument(each, f"std::get<{i}>({place})", label, f"PyTuple_GetItem({given}, {i})")
        else:
            written = label in function.writes or label.partition(".")[0] in function.writes
            flag = isinstance(kind, Array) and kind.entry == "flag"
            takes.append(f'take(given, {given}, {place}, {str(written and not flag).lower()}, "{label}")')

    for i, (label, kind) in enumerate(zip(function.parameters, function.kinds, strict=True)):
        declared.append(f"    {kind} a{i};")
        passed.append(f"a{i}")
        argument(kind, f"a{i}", label, f"args[{i}]")
    n = len(passed)
    run = f"{function.name}({', '.join(passed)})"
    void = function.result == "void"
    after = "Py_NewRef(Py_None)" if void else "give(mine, given, result)"
    return "\n".join(
        [
            f"static PyObject* py_{name}(PyObject*, PyObject* const* args, Py_ssize_t n) {{",
            f'    if (n != {n}) return PyErr_Format(PyExc_TypeError, "{name} takes {n} arguments");',
            f"    Py_buffer views[{max(1, len(takes))}];",
            f'    Given given = {{views, 0, "{name}"}};',
            *declared,
            *([] if void else [f"    {function.result} result{{}};"]),
            f"    if (!({' && '.join(takes)})) {{",
            "        given.close();",
            "        return nullptr;",
            "    }",
            "    Call mine;",
            f"    bool good = run(mine, [&] {{ {'' if void else 'result = '}{run}; }});",
            f"    return finished(mine, given, good ? {after} : nullptr);",
            "}",
        ]
    )
