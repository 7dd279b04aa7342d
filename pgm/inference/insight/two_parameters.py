"""Two-way sensitivity: an answer as a function of two parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.calls import guard_methods
from pgm.cpds import CPD
from pgm.errors import InvalidArgument, shown
from pgm.inference.insight.aims import Aim, Given
from pgm.inference.insight.curve import Curve
from pgm.inference.insight.sensitivity import sensitivity
from pgm.variables import State

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, slots=True)
class Surface:
    """An answer as a function of two parameters: exactly a ratio of two bilinear functions.

    `surface(0.3, 0.8)` is the answer if the parameters were 0.3 and 0.8, and the other entries
    of their rows changed in proportion.
    """

    aim: Aim
    first: Curve
    second: Curve
    above: np.ndarray  # (2, 2): P(state, given) is the sum of above[i, j] x**i y**j, up to a scale
    below: np.ndarray  # the same for P(given)

    def __call__(self, x: float, y: float) -> float:
        """The answer if the parameters had these values."""
        for curve, value in ((self.first, x), (self.second, y)):
            if not 0.0 <= value <= 1.0:
                raise InvalidArgument(f"{curve.text} is a probability, from 0 to 1, not {shown(value)}.")
        powers = np.outer([1.0, x], [1.0, y])
        below = float((self.below * powers).sum())
        if below <= 1e-12 * float(np.abs(self.below).sum()):
            raise InvalidArgument(f"With {x:g} and {y:g} the evidence would be impossible.")
        return min(max(float((self.above * powers).sum()) / below, 0.0), 1.0)  # beyond is rounding

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the answer over both parameters as a map, with the current values marked; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.answer_surface(self, ax, figsize=figsize, title=title)


def of_two(
    model: Any,
    others: Mapping[str, CPD],
    target: object,
    given: Given,
    first: tuple[str, Any],
    second: tuple[str, Any],
    state: State | None,
) -> Surface:
    """See `BayesianNetwork.sensitivity_of_two`.

    The answer is a ratio of polynomials linear in each parameter: derivatives with respect to the second, at
    two values of the first, give the four coefficients of the numerator and the four of the denominator.
    """
    for one in (first, second):
        if not isinstance(one, tuple) or len(one) != 2:
            raise InvalidArgument(
                f"A parameter is a pair (node, states of its parents and itself), not {shown(one)}."
            )
    found = sensitivity(model, others, target, given, state, zeros=False, ranges=False)
    a, b = found.curve(*first), found.curve(*second)
    if a.node in others or b.node in others:
        raise InvalidArgument(
            "Only entries of tables can vary two at a time; these are of other distributions."
        )
    names = (*model.parents(a.node), a.node)
    codes = [model.variables[n].code(s) for n, s in zip(names, a.key, strict=True)]
    if a.node == b.node and a.key[:-1] == b.key[:-1]:
        raise InvalidArgument(
            f"{a.text} and {b.text} are of one row: they change together. Name entries of two rows."
        )
    ends = (0.25, 0.75)
    asked = found.aim
    rows = []
    for x in ends:
        made = _changed(model, a.node, tuple(codes), x)
        curve = sensitivity(made, others, target, asked.given, asked.state, zeros=False, ranges=False).curve(
            *second
        )
        whole = float(made.log_probability(asked.given))
        # P(given) and P(state, given) as lines in y: values at b.value, and slopes
        down, p = curve.down, curve.answer
        up = curve.derivative + p * down
        rows.append((whole, (1.0 - down * curve.value, down), (p - up * curve.value, up)))
    top = max(rows[0][0], rows[1][0])
    below, above = np.empty((2, 2)), np.empty((2, 2))
    lines = [
        (np.exp(whole - top) * np.array(low), np.exp(whole - top) * np.array(high))
        for whole, low, high in rows
    ]
    for table, at in ((below, 0), (above, 1)):
        table[1] = (lines[1][at] - lines[0][at]) / (ends[1] - ends[0])
        table[0] = lines[0][at] - ends[0] * table[1]
    return Surface(asked, a, b, above, below)


def _changed(model: Any, name: str, index: tuple[int, ...], value: float) -> Any:
    """The network with one entry set to this value, and the others of its row scaled in proportion."""
    table = np.array(model.cpd(name).values)
    row = table[index[:-1]]
    rest = 1.0 - row[index[-1]]
    row *= (1.0 - value) / rest
    row[index[-1]] = value
    made = model.copy()
    made.set(name, table / table.sum(axis=-1, keepdims=True))
    return made


guard_methods([Surface])
