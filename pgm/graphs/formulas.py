"""Formulas of observed probabilities: their products, ratios and sums, as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from pgm.printing import label

LONGEST = 5_000  # probabilities in a formula that is written out


@dataclass(frozen=True)
class P:
    """The probability of some variables given others."""

    of: tuple[Any, ...]
    given: tuple[Any, ...] = ()

    @cached_property
    def free(self) -> frozenset[Any]:
        """The variables that its value depends on."""
        return frozenset(self.of + self.given)

    @cached_property
    def size(self) -> int:
        """The number of probabilities in it."""
        return 1


@dataclass(frozen=True, eq=False)
class Product:
    """The product of several formulas; 1 if there are none."""

    parts: tuple[Formula, ...]

    @cached_property
    def free(self) -> frozenset[Any]:
        """The variables that its value depends on."""
        return frozenset().union(*(part.free for part in self.parts))

    @cached_property
    def size(self) -> int:
        """The number of probabilities in it."""
        return sum(part.size for part in self.parts)


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum of a formula over all states of some variables."""

    over: tuple[Any, ...]
    of: Formula

    @cached_property
    def free(self) -> frozenset[Any]:
        """The variables that its value depends on."""
        return self.of.free - frozenset(self.over)

    @cached_property
    def size(self) -> int:
        """The number of probabilities in it."""
        return self.of.size


@dataclass(frozen=True, eq=False)
class Ratio:
    """One formula divided by another."""

    top: Formula
    bottom: Formula

    @cached_property
    def free(self) -> frozenset[Any]:
        """The variables that its value depends on."""
        return self.top.free | self.bottom.free

    @cached_property
    def size(self) -> int:
        """The number of probabilities in it."""
        return self.top.size + self.bottom.size


Formula: TypeAlias = "P | Product | Sum | Ratio"


def product(parts: Iterable[Formula]) -> Formula:
    """The product, flattened, with P(a | c) P(b | a, c) merged into P(a, b | c).

    >>> product([P(("x",), ("w",)), P(("y",), ("x", "w"))])
    P(of=('x', 'y'), given=('w',))
    """
    flat: list[Formula] = []
    for part in parts:
        flat += part.parts if isinstance(part, Product) else [part]
    merged = True
    while merged:
        merged = False
        for one in flat:
            if not isinstance(one, P):
                continue
            for other in flat:
                if isinstance(other, P) and other is not one and set(other.given) == set(one.of + one.given):
                    flat[flat.index(one)] = P(one.of + other.of, one.given)
                    flat.remove(other)
                    merged = True
                    break
            if merged:
                break
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def total(over: Iterable[Any], of: Formula) -> Formula:
    """The sum over some variables, without those over which a factor sums to one.

    >>> total(["y"], P(("x", "y"), ("w",)))
    P(of=('x',), given=('w',))
    """
    left = [v for v in over if v in of.free]
    if not left:
        return of
    if isinstance(of, Sum):
        return total([*of.over, *left], of.of)
    if isinstance(of, Ratio) and not of.bottom.free.intersection(left):
        return Ratio(total(left, of.top), of.bottom)
    parts = list(of.parts) if isinstance(of, Product) else [of]
    again = True
    while again:
        again = False
        for v in left:
            having = [part for part in parts if v in part.free]
            if len(having) == 1 and isinstance(one := having[0], P) and v in one.of:
                rest = tuple([w for w in one.of if w != v])
                where = parts.index(one)
                parts[where : where + 1] = [P(rest, one.given)] if rest else []
                left.remove(v)
                again = True
                break
    inner = product(parts)
    return Sum(tuple(left), inner) if left else inner


def ratio(top: Formula, bottom: Formula) -> Formula:
    """One divided by the other; P(a, b | c) / P(b | c) is P(a | b, c)."""
    if isinstance(bottom, Product) and not bottom.parts:
        return top
    if (
        isinstance(top, P)
        and isinstance(bottom, P)
        and set(top.given) == set(bottom.given)
        and set(bottom.of) < set(top.of)
    ):
        return P(tuple([v for v in top.of if v not in bottom.of]), bottom.of + top.given)
    return Ratio(top, bottom)


def text(formula: Formula, taken: Collection[Any] = ()) -> str:
    """The formula on one line; variables summed over get a prime where their names are taken.

    >>> text(Sum(("x",), Product((P(("y",), ("x", "z")), P(("x",))))), taken=["x", "y"])
    "sum_{x'} P(y | x', z) P(x')"
    """
    return _written(formula, taken, _TEXT)


def latex(formula: Formula, taken: Collection[Any] = ()) -> str:
    r"""The formula in LaTeX.

    >>> print(latex(Ratio(P(("y", "x")), P(("x",)))))
    \frac{P(y, x)}{P(x)}
    """
    return _written(formula, taken, _LATEX)


def quoted(name: str) -> str:
    r"""A name in LaTeX.

    >>> print(quoted("blood_type"), quoted("x"))
    \mathrm{blood\_type} x
    """
    if len(name) == 1 and name.isalpha():
        return name
    safe = {"\\": r"\backslash ", "{": r"\{", "}": r"\}", "^": r"\hat{}", "~": r"\tilde{}"}
    safe |= dict.fromkeys("_%&#$", "")
    return r"\mathrm{" + "".join(safe.get(c) or (f"\\{c}" if c in safe else c) for c in name) + "}"


@dataclass(frozen=True)
class _Style:
    sign: str  # of a sum, with {} for what is summed over
    bar: str
    gap: str
    fraction: str
    plain: bool

    def name(self, name: Any, primes: int) -> str:
        return label(name) + "'" * primes if self.plain else quoted(str(name)) + "'" * primes


_TEXT = _Style("sum_{{{}}} ", " | ", " ", "[{}] / [{}]", True)
_LATEX = _Style(r"\sum_{{{}}} ", r" \mid ", r" \, ", r"\frac{{{}}}{{{}}}", False)


def _written(formula: Formula, taken: Collection[Any], style: _Style) -> str:
    if formula.size > LONGEST:
        return f"a formula of {formula.size:,} probabilities"
    names = {v: 0 for v in (*taken, *formula.free)}
    return _part(formula, names, {(v, 0) for v in names}, style, last=True)


def _part(
    f: Formula, primes: dict[Any, int], used: set[tuple[Any, int]], style: _Style, *, last: bool
) -> str:
    """The text of a part; a sum that is not the last factor gets brackets."""
    if isinstance(f, P):
        of, given = ([style.name(v, primes.get(v, 0)) for v in some] for some in (f.of, f.given))
        bar = style.bar if given else ""
        return f"P({', '.join(of)}{bar}{', '.join(given)})"
    if isinstance(f, Product):
        parts = sorted(f.parts, key=lambda part: isinstance(part, Sum))
        return (
            style.gap.join(
                _part(part, primes, used, style, last=last and i == len(parts) - 1)
                for i, part in enumerate(parts)
            )
            or "1"
        )
    if isinstance(f, Ratio):
        top, bottom = (_part(part, primes, used, style, last=True) for part in (f.top, f.bottom))
        if style.plain and isinstance(f.bottom, P):
            return f"{top if isinstance(f.top, P) else f'[{top}]'} / {bottom}"
        return style.fraction.format(top, bottom)
    inner, known = dict(primes), set(used)
    for v in f.over:
        inner[v] = 0
        while (v, inner[v]) in known:
            inner[v] += 1
        known.add((v, inner[v]))
    over = ", ".join(style.name(v, inner[v]) for v in f.over)
    if style.plain and len(f.over) == 1 and over.isidentifier():
        sign = f"sum_{over} "
    else:
        sign = style.sign.format(over)
    said = sign + _part(f.of, inner, known, style, last=True)
    return said if last else f"[{said}]" if style.plain else rf"\left[{said}\right]"


def probabilities(formula: Formula) -> Iterator[P]:
    """All probabilities in it."""
    stack, seen = [formula], set()
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, P):
            yield part
        elif isinstance(part, Product):
            stack += part.parts
        elif isinstance(part, Sum):
            stack.append(part.of)
        else:
            stack += [part.top, part.bottom]
