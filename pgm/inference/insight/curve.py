"""An answer as a function of one parameter: sensitivity functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgm.calls import guard_methods
from pgm.errors import InvalidArgument, shown
from pgm.printing import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-12  # by which a solution may lie outside 0 .. 1
_IMPOSSIBLE = 1e-10  # of the current P(given): less is rounding


@dataclass(frozen=True, slots=True)
class Curve:
    """An answer as a function of one parameter: exactly a ratio of two linear functions of it.

    `curve(0.3)` is the answer if the parameter were 0.3 and the other entries of its row changed in
    proportion. `range` is where the most probable state of the target stays the same, `order` where all its
    states keep their order.
    """

    node: str
    key: Any  # the states of the parents and the child; for parameters of other distributions their name
    text: str
    value: float  # the current value of the parameter
    answer: float  # the current answer
    derivative: float  # of the answer
    down: float  # the derivative of log P(given); NaN where the answer is not such a function
    # Both None: the target has more than two states, and no ranges were asked for.
    range: tuple[float, float] | None
    order: tuple[float, float] | None = None

    def __call__(self, value: float) -> float:
        """The answer if the parameter had this value."""
        if math.isnan(self.down):
            raise self._nonlinear()
        if not 0.0 <= value <= 1.0:
            raise InvalidArgument(f"{self.text} is a probability, from 0 to 1, not {shown(value)}.")
        change = value - self.value
        up = self.derivative + self.answer * self.down
        if not possible_at(self, value):
            raise InvalidArgument(f"With {self.text} at {value:g} the evidence would be impossible.")
        answer = (self.answer + up * change) / (1.0 + self.down * change)
        return min(max(answer, 0.0), 1.0)  # beyond is rounding

    def solve(self, answer: float) -> float | None:
        """Return the value of the parameter that gives this answer; None: none from 0 to 1 does.

        Args:
            answer: a probability.

        Raises:
            InvalidArgument: the answer is not a ratio of linear functions of this parameter.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> curve = net.sensitivity("lung", {"xray": "yes"}, state="yes").curve("smoke", "yes")
        >>> round(curve(curve.solve(0.6)), 9)
        0.6
        """
        if math.isnan(self.down):
            raise self._nonlinear()
        below = self.derivative + (self.answer - answer) * self.down
        if not below:
            return None
        value = self.value + (answer - self.answer) / below
        nearest_end = min(max(value, 0.0), 1.0)
        inside = abs(value - nearest_end) <= _ROUNDING
        return nearest_end if inside and possible_at(self, nearest_end) else None

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the answer over the parameter, with the current values marked; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.answer_curves([self], "", ax, figsize=figsize, title=title)

    def _nonlinear(self) -> InvalidArgument:
        return InvalidArgument(
            f"{self.text}: the answer is not a ratio of linear functions of this parameter, and only its "
            "derivative is known. Set the parameter and ask again."
        )


def possible_at(curve: Curve, value: float) -> bool:
    """Whether the answer is known as a function of the parameter, and the evidence is possible there."""
    return not math.isnan(curve.down) and 1.0 + curve.down * (value - curve.value) > _IMPOSSIBLE


def at_end(curve: Curve, value: float) -> str:
    """The answer at this value, as an entry of a printed table."""
    return number(curve(value)) if possible_at(curve, value) else "impossible"


guard_methods([Curve])
