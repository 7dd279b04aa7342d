"""Turns one function, for given kinds of arguments, into C++: infers the kinds of its variables on the way.

The body is gone through again and again, each time with what is known by then of every variable (a whole
number may become a float further down), until nothing new is learned; the text of the last time is kept.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from build_loops.kinds import ENTRIES, SCALARS, Array, Differ, Kind, Record, Several, arrays_in, either
from build_loops.source import Refused

if TYPE_CHECKING:
    from build_loops.module import Module

_SIGNS: dict[type[ast.AST], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"},
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
}
_CALLED: dict[type[ast.AST], str] = {  # on whole numbers
    **{ast.FloorDiv: "floor_div", ast.Mod: "modulo", ast.LShift: "shift_left", ast.RShift: "shift_right"},
}
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_CASTS = {"int": "i64", "float": "double", "np.int64": "i64", "np.uint64": "u64"}
# What a function is called in C++, what it takes and what it gives.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], Kind]] = {
    **{
        f"math.{name}": (f"std::{name}", ("double",), "double")
        for name in "exp log log2 expm1 log1p erf erfc sqrt fabs sin cos tanh".split()
    },
    **{f"math.{name}": (f"std::{name}", ("double",), "bool") for name in ("isinf", "isnan", "isfinite")},
    "math.floor": ("floor_", ("double",), "i64"),
    "math.ceil": ("ceil_", ("double",), "i64"),
    "math.lgamma": ("lgamma_", ("double",), "double"),
    "math.frexp": ("frexp_", ("double",), Several(("double", "i64"))),
    "math.ldexp": ("ldexp_", ("double", "i64"), "double"),
    "np.arange": ("arange<i64>", ("i64",), Array("int64", 1)),
}
_INSTEAD = {  # of what is often tried
    **{name.replace("math.", "np."): name for name in _FUNCTIONS if name.startswith("math.")},
    **{"len": "a.size or a.shape[0]", "enumerate": "for i in range(a.size)", "zip": "for i in range(a.size)"},
    **{"fill": "a[:] = x", "sum": "a loop that adds up", "np.sum": "a loop that adds up", "pow": "x**y"},
    **{"np.zeros_like": "np.zeros(a.size)", "np.empty_like": "np.empty(a.size)", "math.pow": "x**y"},
    **{"np.float64": "float", "np.int32": "int", "np.uint8": "int", "bool": "x != 0", "np.abs": "abs"},
    **{
        "np.maximum": "max",
        "np.minimum": "min",
        "np.where": "x if test else y",
        "round": "math.floor(x + 0.5)",
    },
    **{"math.gamma": "math.lgamma", "divmod": "a // b, a % b", "reversed": "range(n - 1, -1, -1)"},
}
_NUMBERS = {"inf": "HUGE_VAL", "nan": "NAN", "pi": "3.141592653589793"}


class Value(NamedTuple):
    """An expression: its kind, its C++, and the arguments whose entries it may be a view of."""

    kind: Kind
    code: str
    of: frozenset[str] = frozenset()


@dataclass
class Function:
    """A function for certain kinds of arguments."""

    module: Module
    node: ast.FunctionDef
    name: str  # in C++
    kinds: list[Kind]
    result: Kind | None = None
    writes: frozenset[str] = frozenset()  # the arguments, or their fields, whose entries it changes
    takes_room: bool = False
    apart: bool = False  # it has loops whose steps are apart
    code: str = ""
    variables: dict[str, Kind] = field(default_factory=dict)
    views: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note the arguments."""
        self.parameters = [a.arg for a in self.node.args.args]
        for name, kind in zip(self.parameters, self.kinds, strict=True):
            self.variables[name], self.views[name] = kind, frozenset([name])

    def refuse(self, node: ast.AST, why: str) -> Refused:
        return self.module.source.refuse(node, why)

    # ---- the whole

    def once(self) -> bool:
        """Go through the body; whether something was learned."""
        before = (dict(self.variables), dict(self.views), self.result, self.writes, self.takes_room)
        self.lines: list[str] = []
        self.loops, self.fresh, self.calls, self.hidden = 0, False, 0, 0
        self.block(self.node.body)
        self.result = self.result or "void"
        return before != (self.variables, self.views, self.result, self.writes, self.takes_room)

    def finish(self) -> None:
        """Write the text."""
        if self.result != "void" and _goes_on(self.node.body):
            raise self.refuse(self.node, f"{self.node.name} does not return something on every path")
        start = [
            f"    {k} v_{name}{{}};" for name, k in self.variables.items() if name not in self.parameters
        ]
        if self.takes_room:
            start.append("    Mark mark;")
            if self.result == "void":
                self.lines.append("    release(mark);")
        # Where it is called its sizes are known, so that no step is left over.
        inlined = "[[gnu::always_inline]] inline " if self.apart and self.node.name.startswith("_") else ""
        self.code = "\n".join([f"{inlined}static {self.head()} {{", *start, *self.lines, "}"])

    def head(self) -> str:
        given = zip(self.parameters, self.kinds, strict=True)
        passed = [f"const {k}& v_{name}" if isinstance(k, Record) else f"{k} v_{name}" for name, k in given]
        return f"{self.result} {self.name}({', '.join(passed)})"

    def note(self, node: ast.AST, name: str, value: Value) -> None:
        """A variable may hold this, too."""
        self.variables[name] = self.both(node, self.variables.get(name), value.kind, f"{name} is ")
        if name in self.parameters and self.variables[name] != self.kinds[self.parameters.index(name)]:
            raise self.refuse(node, f"{name} is given as another kind than {value.kind}: use another name")
        self.views[name] = self.views.get(name, frozenset()) | value.of

    def both(self, node: ast.AST, a: Kind | None, b: Kind | None, start: str = "") -> Kind:
        """The kind of what is sometimes the one and sometimes the other."""
        try:
            found = either(a, b)
        except Differ as error:
            raise self.refuse(node, f"{start}{error}") from None
        assert found is not None
        return found

    def as_kind(self, node: ast.AST, value: Value, kind: Kind) -> str:
        """The C++ of a value as another kind that can hold it."""
        if value.kind == kind:
            return value.code
        try:
            fits = either(value.kind, kind) == kind
        except Differ:
            fits = False
        if not fits and not (kind == "u64" and value.code.removesuffix("LL").isdigit()):
            raise self.refuse(node, f"{kind} is needed, {value.kind} is given")
        return f"{kind}({value.code})"

    # ---- statements

    def write(self, text: str) -> None:
        self.lines.append(self.margin + text)

    margin = "    "

    def block(self, body: list[ast.stmt], loop: bool = False) -> None:
        self.margin += "    "
        self.loops += loop
        for node in body:
            self.statement(node)
        self.loops -= loop
        self.margin = self.margin[4:]

    def statement(self, node: ast.stmt) -> None:
        kind = type(node).__name__.lower()
        if isinstance(node, ast.Pass | ast.Break | ast.Continue):
            self.lines += [] if kind == "pass" else [f"{self.margin}{kind};"]
            return
        method = getattr(self, f"do_{kind}", None)
        if method is None:
            raise self.refuse(node, f"a loop cannot have: {ast.unparse(node).splitlines()[0]}")
        if isinstance(node, ast.For | ast.While) and node.orelse:
            raise self.refuse(node, "a loop has no else here")
        start, self.fresh, self.calls = len(self.lines), False, 0
        self.write(f"LINE({node.lineno});")
        method(node)
        if self.fresh:
            self.takes_room = True
            if self.loops and isinstance(node, ast.Assign | ast.Expr):
                # What earlier rounds have taken and no variable has any more.
                held = [x for n, k in self.variables.items() for x in arrays_in(k, f"v_{n}")]
                self.lines.insert(start, f"tidy({', '.join(['mark', *(f'{x}.p' for x in held)])});")

    def do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.write(f"{self.value(node.value).code};")

    def do_return(self, node: ast.Return) -> None:
        value = self.value(node.value) if node.value else Value("void", "")
        self.result = self.both(node, self.result, value.kind, f"{self.node.name} returns ")
        code = self.as_kind(node, value, self.result)
        if not self.takes_room and not self.fresh:
            self.write(f"return {code};")
            return
        kept = "".join(f", {x}.p" for x in arrays_in(self.result, "result"))
        if self.result == "void":
            self.write("{ release(mark); return; }")
        else:
            self.write(f"{{ {self.result} result = {code}; release(mark{kept}); return result; }}")

    def do_if(self, node: ast.If) -> None:
        self.write(f"if ({self.truth(node.test)}) {{")
        self.block(node.body)
        if node.orelse:
            self.write("} else {")
            self.block(node.orelse)
        self.write("}")

    def do_while(self, node: ast.While) -> None:
        self.write(f"while ({self.truth(node.test)}) {{")
        self.block(node.body, loop=True)
        self.write("}")

    def do_for(self, node: ast.For) -> None:
        self.hidden += 2 if self.hidden == 63 else 1  # i64 is a type
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "apart":
            self.for_apart(node, node.iter, self.hidden)
            return
        head, value = self.loop_over(node.iter, self.hidden)
        self.write(f"{head} {{")
        self.store(node.target, value)
        self.block(node.body, loop=True)
        self.write("}")

    def for_apart(self, node: ast.For, over: ast.Call, k: int) -> None:
        """A loop whose steps the compiler may do at once: arrays in it need not be told apart first."""
        inner = [x for each in node.body for x in ast.walk(each)]
        for x in inner:
            if isinstance(x, ast.For | ast.While | ast.Break | ast.Continue | ast.Return) or (
                isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name)
            ):
                raise self.refuse(x, "steps that are apart have no loop, no way out and no sum: take range")
        if not 1 <= len(over.args) <= 2:
            raise self.refuse(over, f"apart takes 1 or 2 numbers: {ast.unparse(over)}")
        self.apart = True
        given = [self.as_kind(x, self.value(x), "i64") for x in over.args]
        low, high = ("0LL", given[0]) if len(given) == 1 else given
        stored = [
            x for x in (node.target, *inner) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
        ]
        own = ", ".join(dict.fromkeys(f"v_{x.id}" for x in stored))
        self.write(f"const i64 e{k} = {high};")
        self.lines += ["#ifndef CHECKED", f"#pragma omp simd private({own})", "#endif"]
        self.write(f"for (i64 i{k} = {low}; i{k} < e{k}; i{k}++) {{")
        self.store(node.target, Value("i64", f"i{k}"))
        self.block(node.body, loop=True)
        self.write("}")

    def loop_over(self, over: ast.expr, k: int) -> tuple[str, Value]:
        """The head of a loop, and the value of its variable each time."""
        i = f"i{k}"
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range":
            if not 1 <= len(over.args) <= 3:
                raise self.refuse(over, f"range takes 1 to 3 numbers: {ast.unparse(over)}")
            given = [self.as_kind(x, self.value(x), "i64") for x in over.args]
            low, high = ("0LL", given[0]) if len(given) == 1 else given[:2]
            step = given[2] if len(given) == 3 else "1LL"
            if _is_number(step):
                test = f"{i} > e{k}" if "-" in step else f"{i} < e{k}"
                return f"for (i64 {i} = {low}, e{k} = {high}; {test}; {i} += {step})", Value("i64", i)
            self.write(f"i64 s{k} = {step};")
            self.write(f"if (s{k} == 0) fail(STEP);")
            test = f"s{k} > 0 ? {i} < e{k} : {i} > e{k}"
            return f"for (i64 {i} = {low}, e{k} = {high}; {test}; {i} += s{k})", Value("i64", i)
        if isinstance(over, ast.Tuple) and over.elts:
            values = [self.value(x) for x in over.elts]
            items = ", ".join(self.as_kind(over, v, values[0].kind) for v in values)
            self.write(f"{values[0].kind} a{k}[] = {{{items}}};")
            return f"for (int {i} = 0; {i} < {len(values)}; {i}++)", Value(values[0].kind, f"a{k}[{i}]")
        value = self.value(over)
        if not isinstance(value.kind, Array) or value.kind.axes != 1:
            raise self.refuse(over, "a loop goes over a range, a tuple or an array of one axis")
        name = f"each{k}"
        self.note(over, name, value)
        self.write(f"v_{name} = {value.code};")
        entry = ENTRIES[value.kind.entry][1]
        return f"for (i64 {i} = 0; {i} < v_{name}.n[0]; {i}++)", Value(entry, f"{entry}(v_{name}[{i}])")

    def do_assign(self, node: ast.Assign) -> None:
        targets, value = node.targets, node.value
        if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
            names, held = targets[0].elts, []
            for x in self.spread(value.elts):
                held.append(self.hold(self.value(x)))
                self.calls = 0  # of one at a time
            if len(held) != len(names):
                raise self.refuse(node, "as many values as names are needed")
            for name, part in zip(names, held, strict=True):
                self.store(name, part)
            return
        found = self.value(value)
        if len(targets) > 1 or isinstance(targets[0], ast.Tuple):
            found = self.hold(found)
        self.calls = 0  # what is on the right comes first
        for target in targets:
            self.store(target, found)

    def hold(self, value: Value) -> Value:
        """A value that is computed now and stored in a moment."""
        self.hidden += 1
        self.write(f"{value.kind} h{self.hidden} = {value.code};")
        return Value(value.kind, f"h{self.hidden}", value.of)

    def store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.note(target, target.id, value)
            self.write(f"v_{target.id} = {self.as_kind(target, value, self.variables[target.id])};")
            return
        if isinstance(target, ast.Tuple):
            if not isinstance(value.kind, Several) or len(value.kind.items) != len(target.elts):
                raise self.refuse(target, f"{value.kind} cannot be taken apart into {len(target.elts)}")
            for i, (name, kind) in enumerate(zip(target.elts, value.kind.items, strict=True)):
                self.store(name, Value(kind, f"std::get<{i}>({value.code})", value.of))
            return
        if not isinstance(target, ast.Subscript):
            raise self.refuse(target, f"cannot be assigned to: {ast.unparse(target)}")
        place = self.subscript(target, entry=True)
        self.writes |= place.of
        if not isinstance(place.kind, Array):
            self.write(f"{place.code} = {self.as_kind(target, value, place.kind)};")
        elif isinstance(value.kind, Array):
            if value.kind != place.kind:
                raise self.refuse(target, f"{value.kind} is put into {place.kind}")
            self.write(f"{place.code}.put({value.code});")
        else:
            self.write(f"{place.code}.fill({self.as_kind(target, value, ENTRIES[place.kind.entry][1])});")

    def do_augassign(self, node: ast.AugAssign) -> None:
        value = self.value(node.value)
        if isinstance(node.target, ast.Name):
            old = self.on_name(node.target)
            self.store(node.target, self.combined(node, node.op, old, value))
            return
        if not isinstance(node.target, ast.Subscript) or isinstance(node.target.slice, ast.Slice):
            raise self.refuse(node, f"cannot be changed in place: {ast.unparse(node.target)}")
        if self.calls:
            raise self.refuse(node, "a place that is changed needs a value without calls: name it first")
        place = self.subscript(node.target, entry=True)
        if isinstance(place.kind, Array):
            raise self.refuse(node, "only entries can be changed in place")
        self.writes |= place.of
        self.hidden += 1
        at = f"r{self.hidden}"
        old = Value(place.kind, f"{place.kind}({at})")
        new = self.as_kind(node, self.combined(node, node.op, old, value), place.kind)
        self.write(f"{{ auto& {at} = {place.code}; {at} = {new}; }}")

    # ---- expressions

    def truth(self, node: ast.expr) -> str:
        """A condition."""
        if isinstance(node, ast.BoolOp):
            sign, before, calls, parts = " && " if isinstance(node.op, ast.And) else " || ", self.calls, 0, []
            for x in node.values:  # one after the other
                parts.append(self.truth(x))
                calls, self.calls = max(calls, self.calls), before
            self.calls = calls
            return f"({sign.join(parts)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.truth(node.operand)}"
        value = self.value(node)
        if value.kind not in ("bool", "i64", "u64", "double"):
            raise self.refuse(node, f"{value.kind} is neither true nor false")
        return value.code if value.kind == "bool" else f"({value.code} != 0)"

    def value(self, node: ast.expr) -> Value:
        method = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if method is None:
            raise self.refuse(node, f"a loop cannot have: {ast.unparse(node)}")
        found = method(node)
        assert isinstance(found, Value)
        return found

    def on_constant(self, node: ast.Constant) -> Value:
        return self.number(node, node.value)

    def number(self, node: ast.AST, x: object) -> Value:
        if isinstance(x, bool):
            return Value("bool", str(x).lower())
        if isinstance(x, int) and abs(x) < 2**63:
            return Value("i64", f"{x}LL" if x >= 0 else f"(-{-x}LL)")
        if isinstance(x, float):
            text = "HUGE_VAL" if abs(x) == math.inf else repr(abs(x))
            return Value("double", text if x >= 0 else f"(-{text})")
        raise self.refuse(node, f"no number for a loop: {x!r}")

    def on_name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return Value(self.variables[node.id], f"v_{node.id}", self.views[node.id])
        if node.id in self.module.source.constants:
            return self.number(node, self.module.source.constants[node.id])
        raise self.refuse(node, f"{node.id} is no variable that was given a value above, and no constant")

    def on_attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in ("math", "np") and node.attr in _NUMBERS:
            return Value("double", _NUMBERS[node.attr])
        base = self.value(node.value)
        if isinstance(base.kind, Record):
            found = dict(base.kind.fields).get(node.attr)
            if found is None:
                raise self.refuse(node, f"{base.kind.name} has no {node.attr}")
            return Value(found, f"{base.code}.f_{node.attr}", self.part_of(base.of, node.attr))
        if isinstance(base.kind, Array) and node.attr == "size":
            return Value("i64", f"{base.code}.size()" if base.kind.axes > 1 else f"{base.code}.n[0]")
        raise self.refuse(node, f"{base.kind} has no {node.attr} here{_instead(node.attr)}")

    def on_subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            array = self.value(node.value.value)
            if isinstance(array.kind, Array):
                return Value("i64", f"{array.code}.n[{self.which(node, array.kind.axes)}]")
        return self.subscript(node, entry=False)

    def which(self, node: ast.Subscript, n: int) -> int:
        """Which of n axes or parts a subscript means, which says it as it stands."""
        if isinstance(node.slice, ast.Constant) and type(node.slice.value) is int and node.slice.value < n:
            return node.slice.value
        raise self.refuse(node, f"one of {n} is said by a number from 0, as it stands")

    def subscript(self, node: ast.Subscript, entry: bool) -> Value:
        """An entry, a row or a slice; an `entry` as a place that can be assigned to."""
        base = self.value(node.value)
        if isinstance(base.kind, Several):
            k = self.which(node, len(base.kind.items))
            return Value(base.kind.items[k], f"std::get<{k}>({base.code})", base.of)
        if not isinstance(base.kind, Array):
            raise self.refuse(node, f"{base.kind} has no entries")
        code, axes = base.code, base.kind.axes
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for each in places:
            if isinstance(each, ast.Slice):
                if each is not places[-1]:
                    raise self.refuse(node, "only the last of several subscripts may be a slice")
                code += self.cut(each)
                break
            value = self.value(each)
            if value.kind == "bool":
                raise self.refuse(node, "a truth is no index: numpy takes it for a mask")
            i = self.as_kind(each, value, "i64")
            if i.startswith("(-") and _is_number(i):  # from the end
                i = f"{code}.n[0] {i[1:-1]}"
            code, axes = f"{code}[{i}]", axes - 1
        if axes < 0:
            raise self.refuse(node, f"{base.kind} has not so many axes")
        if axes:
            return Value(Array(base.kind.entry, axes), code, base.of)
        kind = ENTRIES[base.kind.entry][1]
        return Value(kind, code if entry else f"{kind}({code})", base.of if entry else frozenset())

    def cut(self, node: ast.Slice) -> str:
        if node.step is not None:
            raise self.refuse(node, "a slice has no step here: write a loop over range(i, j, step)")
        low, high = (self.as_kind(x, self.value(x), "i64") if x else "0LL" for x in (node.lower, node.upper))
        return f".cut({low}, {high})" if node.upper else f".from({low})"

    def on_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value("bool", f"!{self.truth(node.operand)}")
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and value.kind in ("i64", "double"):
            return Value(value.kind, f"(-{value.code})")
        if isinstance(node.op, ast.Invert) and value.kind in ("i64", "u64"):
            return Value(value.kind, f"(~{value.code})")
        raise self.refuse(node, f"not for {value.kind}: {ast.unparse(node)}")

    def on_binop(self, node: ast.BinOp) -> Value:
        plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
        if all(isinstance(x, plain) for x in ast.walk(node)):
            try:
                return self.number(node, eval(ast.unparse(node), {"__builtins__": {}}))
            except ArithmeticError as error:
                raise self.refuse(node, f"{ast.unparse(node)}: {error}") from None
        return self.combined(node, node.op, self.value(node.left), self.value(node.right))

    def combined(self, node: ast.AST, op: ast.operator, a: Value, b: Value) -> Value:
        """Two numbers made into one."""
        for v in (a, b):
            if v.kind not in SCALARS and v.kind != "u64":
                raise self.refuse(node, f"{v.kind} is no number: name its entries")
        kind = "u64" if "u64" in (a.kind, b.kind) else either(a.kind, b.kind) or "i64"
        if isinstance(op, ast.Div | ast.Pow):
            if isinstance(op, ast.Pow) and kind != "double":
                raise self.refuse(node, "powers are of floats: of two, write 1 << k")
            x, y = (self.as_kind(node, v, "double") for v in (a, b))
            return Value("double", f"{'divided' if isinstance(op, ast.Div) else 'std::pow'}({x}, {y})")
        if kind == "bool" and not isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
            kind = "i64"
        x, y = (self.as_kind(node, v, kind) for v in (a, b))
        if kind == "double" and isinstance(op, (*_CALLED, *_BITS)):
            raise self.refuse(node, "whole numbers are needed")
        if type(op) in _CALLED:
            return Value(kind, f"{_CALLED[type(op)]}({x}, {y})")
        if type(op) not in _SIGNS:
            raise self.refuse(node, "an operator that loops do not have")
        text = f"({x} {_SIGNS[type(op)]} {y})"
        return Value(kind, f"bool{text}" if kind == "bool" else text)

    def on_compare(self, node: ast.Compare) -> Value:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple) and right.elts:
                some = " || ".join(f"{self.compared(ast.Eq(), left, x)}" for x in right.elts)
                parts.append(f"({some})" if isinstance(op, ast.In) else f"!({some})")
            else:
                parts.append(self.compared(op, left, right))
            left = right
        return Value("bool", f"({' && '.join(parts)})")

    def compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
        a, b = self.value(left), self.value(right)
        if type(op) not in _SIGNS or not isinstance(a.kind, str) or not isinstance(b.kind, str):
            raise self.refuse(left, f"not compared here: {a.kind} and {b.kind}")
        kind = "u64" if "u64" in (a.kind, b.kind) else self.both(left, a.kind, b.kind)
        return f"{self.as_kind(left, a, kind)} {_SIGNS[type(op)]} {self.as_kind(right, b, kind)}"

    def on_boolop(self, node: ast.BoolOp) -> Value:
        for x in node.values:
            before = self.calls
            if self.value(x).kind != "bool":
                raise self.refuse(node, "and, or: of truths, or in a condition")
            self.calls = before
        return Value("bool", self.truth(node))

    def on_ifexp(self, node: ast.IfExp) -> Value:
        test, a, b = self.truth(node.test), self.value(node.body), self.value(node.orelse)
        kind = self.both(node, a.kind, b.kind)
        x, y = self.as_kind(node, a, kind), self.as_kind(node, b, kind)
        return Value(kind, f"({test} ? {x} : {y})", a.of | b.of)

    def on_tuple(self, node: ast.Tuple) -> Value:
        values = [self.value(x) for x in self.spread(node.elts)]
        kind = Several(tuple(v.kind for v in values))
        return Value(kind, f"{kind}{{{', '.join(v.code for v in values)}}}", _of(values))

    def part_of(self, owners: frozenset[str], name: str) -> frozenset[str]:
        """The fields of this name, of those arguments that are named tuples."""
        records = {n for n, k in zip(self.parameters, self.kinds, strict=True) if isinstance(k, Record)}
        return frozenset(f"{x}.{name}" if x in records else x for x in owners)

    # ---- calls

    def spread(self, given: list[ast.expr]) -> Iterator[ast.expr]:
        """What is given, with tuples behind a star spread out."""
        for node in given:
            if not isinstance(node, ast.Starred):
                yield node
            elif isinstance(node.value, ast.Tuple):
                yield from self.spread(node.value.elts)
            else:
                kind = self.value(node.value).kind
                if not isinstance(kind, Several):
                    raise self.refuse(node, "a star is for tuples")
                for i in range(len(kind.items)):
                    yield ast.copy_location(ast.Subscript(node.value, ast.Constant(i), ast.Load()), node)

    def on_call(self, node: ast.Call) -> Value:
        given, name = list(self.spread(node.args)), ast.unparse(node.func)
        if node.keywords and ast.unparse(node.keywords[0]) != "kind='mergesort'":
            raise self.refuse(
                node,
                f"calls have no keywords here: write {ast.unparse(node.keywords[0].value)} without its name",
            )
        if isinstance(node.func, ast.Name):
            if name in self.module.source.functions:
                return self.call_of_loop(node, name, [self.value(x) for x in given])
            home = self.module.source.home_of(name)
            if home is not None and isinstance(home.defined[name], ast.ClassDef):
                record = self.module.source.kind(node.func)
                assert isinstance(record, Record)
                values = [self.value(x) for x in given]
                self.enough(node, given, len(record.fields))
                self.module.use(record)
                kinds = [kind for _, kind in record.fields]
                fields = (self.as_kind(node, v, k) for v, k in zip(values, kinds, strict=True))
                return Value(record, f"{record}{{{', '.join(fields)}}}", _of(values))
        if name in _FUNCTIONS or name in _CASTS:
            return self.of_table(node, name, given)
        if name in ("np.empty", "np.zeros", "np.ones", "np.full"):
            return self.new_array(node, name.removeprefix("np."), given)
        if name.rpartition(".")[0] in ("np", "math"):
            return self.of_numpy(node, name, given)
        if isinstance(node.func, ast.Attribute):
            return self.method(node, self.value(node.func.value), node.func.attr)
        return self.built_in(node, name, given)

    def call_of_loop(self, node: ast.Call, name: str, given: list[Value]) -> Value:
        function = self.module.loop(node, name, [v.kind for v in given], self)
        if function.result is None:
            raise self.refuse(
                node, f"{name} calls itself: deep calls end the process, so use a stack of your own"
            )
        for place in function.writes:
            argument, _, part = place.partition(".")
            of = given[function.parameters.index(argument)].of
            self.writes |= self.part_of(of, part) if part else of
        if function.writes:
            self.calls += 1
            if self.calls > 1:
                raise self.refuse(
                    node, "two calls that change arrays in one expression: C++ orders them freely"
                )
        arrays = arrays_in(function.result, "")
        self.fresh = self.fresh or bool(arrays)
        called = f"{function.name}({', '.join(v.code for v in given)})"
        return Value(function.result, called, _of(given) if arrays else frozenset())

    def built_in(self, node: ast.Call, name: str, given: list[ast.expr]) -> Value:
        """A function of Python: min, max and abs here, others by their tables."""
        values = [self.value(x) for x in given]
        if name not in ("min", "max", "abs") or not given:
            raise self.refuse(node, f"no loop is named {name}{_instead(name)}")
        if any(v.kind not in SCALARS for v in values):
            raise self.refuse(node, f"{name} is for numbers here")
        if name == "abs" and len(given) == 1:
            return Value(values[0].kind, f"absolute({values[0].code})")
        if name == "abs" or len(given) == 1:
            raise self.refuse(node, f"{name} is not for so many numbers")
        kind = max((str(v.kind) for v in values), key=SCALARS.index)
        code, *others = (self.as_kind(node, v, kind) for v in values)
        for other in others:
            code = f"{'larger' if name == 'max' else 'smaller'}({code}, {other})"
        return Value(kind, code)

    def enough(self, node: ast.Call, given: Sequence[ast.expr], n: int) -> None:
        if len(given) != n:
            raise self.refuse(node, f"{ast.unparse(node.func)} takes {n} arguments here")

    def method(self, node: ast.Call, base: Value, name: str) -> Value:
        if isinstance(base.kind, Array):
            if name in ("copy", "astype", "sort", "sum"):
                self.enough(node, node.args, 1 if name == "astype" else 0)
            if name == "copy":
                self.fresh = True
                return Value(base.kind, f"copied<{ENTRIES[base.kind.entry][0]}>({base.code})")
            if name == "astype":
                entry = self.entry(node.args[0])
                self.fresh = True
                return Value(Array(entry, base.kind.axes), f"copied<{ENTRIES[entry][0]}>({base.code})")
            if name == "sort" and base.kind.entry != "float64":
                self.writes |= base.of
                return Value("void", f"{base.code}.sort()")
            # Of floats not: numpy adds these in an order of its own.
            if name == "sum" and ENTRIES[base.kind.entry][1] == "i64":
                return Value("i64", f"{base.code}.sum()")
        raise self.refuse(node, f"{base.kind} has no {name}() here{_instead(name)}")

    def entry(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            if node.attr == "dtype":
                kind = self.value(node.value).kind
                assert isinstance(kind, Array)
                return kind.entry
            if node.attr in ENTRIES:
                return node.attr
            if node.attr == "bool_":
                return "bool"
        raise self.refuse(node, f"no kind of entry: {ast.unparse(node)}")

    def of_table(self, node: ast.Call, name: str, given: list[ast.expr]) -> Value:
        """A cast, or a function that takes and gives always the same kinds."""
        called, takes, kind = _FUNCTIONS.get(name) or (_CASTS[name], ("",), _CASTS[name])
        self.enough(node, given, len(takes))
        values = [self.value(x) for x in given]
        if name in _CASTS and values[0].kind not in (*SCALARS, "u64"):
            raise self.refuse(node, f"{name} is for numbers here")
        passed = [self.as_kind(node, v, k) if k else v.code for v, k in zip(values, takes, strict=True)]
        self.fresh = self.fresh or isinstance(kind, Array)
        return Value(kind, f"{called}({', '.join(passed)})")

    def of_numpy(self, node: ast.Call, name: str, given: list[ast.expr]) -> Value:
        """A new array of others, or of numbers."""
        self.fresh = True
        first = given[0] if len(given) == 1 else None
        if name == "np.array" and isinstance(first, ast.List) and first.elts:
            items = ", ".join(self.as_kind(x, self.value(x), "i64") for x in first.elts)
            return Value(Array("int64", 1), f"array_of({{{items}}})")
        if name == "np.concatenate" and isinstance(first, ast.Tuple) and len(first.elts) == 2:
            a, b = (self.value(x) for x in first.elts)
            if a.kind == b.kind and isinstance(a.kind, Array) and a.kind.axes == 1:
                return Value(a.kind, f"joined({a.code}, {b.code})")
        if first is not None and name in ("np.sort", "np.argsort"):
            code, kind = (found := self.value(first)).code, found.kind
            if isinstance(kind, Array) and kind.axes == 1:
                if name == "np.sort" and kind.entry != "float64":
                    return Value(kind, f"sorted({code})")
                if name == "np.argsort" and node.keywords:
                    return Value(Array("int64", 1), f"argsort({code})")
        raise self.refuse(node, f"loops do not have {name}, or not so{_instead(name)}")

    def new_array(self, node: ast.Call, made: str, given: list[ast.expr]) -> Value:
        """Room for an array: np.empty, np.zeros, np.ones or np.full."""
        least = 2 if made == "full" else 1
        if not least <= len(given) <= least + 1:
            raise self.refuse(node, f"np.{made} takes {least} or {least + 1} arguments here")
        shape = given[0].elts if isinstance(given[0], ast.Tuple) else [given[0]]
        axes = [self.as_kind(x, self.value(x), "i64") for x in shape]
        fill = self.value(given[1]) if made == "full" else Value("i64", "1LL")
        note = given[least:]
        entry = self.entry(note[0]) if note else "float64"
        if made == "full" and not note and fill.kind == "i64":
            entry = "int64"
        self.fresh = True
        kind = Array(entry, len(axes))
        what = f"<{ENTRIES[entry][0]}, {len(axes)}>"
        if made in ("empty", "zeros"):
            return Value(kind, f"{made}{what}({', '.join(axes)})")
        value = self.as_kind(given[0], fill, ENTRIES[entry][1])
        return Value(kind, f"full{what}({', '.join([value, *axes])})")


def _of(values: Iterable[Value]) -> frozenset[str]:
    return frozenset().union(*(v.of for v in values))


def _instead(name: str) -> str:
    return f": write {_INSTEAD[name]}" if name in _INSTEAD else ""


def _is_number(code: str) -> bool:
    return code.removeprefix("(-").removesuffix(")").removesuffix("LL").isdigit()


def _goes_on(body: list[ast.stmt]) -> bool:
    """Whether the end of a block can be reached."""
    last = body[-1]
    if isinstance(last, ast.If):
        return not last.orelse or _goes_on(last.body) or _goes_on(last.orelse)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value:
        return any(isinstance(x, ast.Break) for x in ast.walk(last))
    return not isinstance(last, ast.Return | ast.Continue)
