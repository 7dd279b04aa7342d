"""The rule of one decision: a table of the value of each action, given the observations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidEvidence, shown
from pgm.inference.engines.decisions.solution import best_actions
from pgm.printing import ROWS, Tabular, label
from pgm.results.base import Frozen, condition, pandas, put
from pgm.variables import Variable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Rule(Frozen, Tabular, Mapping[Any, Any]):
    """The rule of one decision, {what is known: action}; it prints with the value of every action.

    Keys have the requisite observations only, in the order in which they become known: a state, a tuple of
    several, or `()` if nothing matters. Cases that cannot happen have no action and are left out. The value
    of an action is the expected utility given what is known, if all other decisions follow the policy. (In
    a case that arises only if earlier decisions depart from it, their actions count as equally probable.)

    >>> rain, umbrella = Variable("rain", [False, True]), Variable("umbrella", ["leave", "take"])
    >>> rule = Rule.of(umbrella, (rain,), np.array([[8.0, 5.0], [-10.0, 2.0]]))
    >>> rule
    rain   umbrella  leave       take      second best loses
    False  leave     8.000000    5.000000  3.000000
    True   take      -10.000000  2.000000  12.000000
    >>> rule[True]
    'take'
    """

    __slots__ = ("actions", "decision", "given", "worth")
    decision: Variable
    given: tuple[Variable, ...]
    worth: np.ndarray  # an axis for each of `given`, then the actions; -inf: not allowed, NaN: cannot happen
    actions: np.ndarray  # codes of the best ones; -1 where what is known cannot happen

    @classmethod
    def of(
        cls,
        decision: Variable,
        given: tuple[Variable, ...],
        values: np.ndarray,
        actions: np.ndarray | None = None,
    ) -> Self:
        """Store the value of each action.

        Args:
            decision: whose actions stand along the last axis.
            given: what is known, an axis for each.
            values: expected utilities; -inf where an action is not allowed, NaN where nothing can happen.
            actions: codes of the best ones, where they were found before rounding.
        """
        made = cls.__new__(cls)
        actions = np.array(best_actions(values) if actions is None else actions, dtype=np.int32)
        actions[np.isnan(values).all(axis=-1)] = -1
        actions.flags.writeable = values.flags.writeable = False
        put(made, "decision", decision)
        put(made, "given", given)
        put(made, "worth", values)
        put(made, "actions", actions)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).of, (self.decision, self.given, self.worth.copy(), self.actions)

    @property
    def loses(self) -> np.ndarray:
        """The loss of the second best action, given what is known; NaN if there is none."""
        if self.worth.shape[-1] < 2:
            return np.full(self.worth.shape[:-1], np.nan)
        ordered = np.sort(self.worth, axis=-1)
        with np.errstate(invalid="ignore"):
            gap = ordered[..., -1] - ordered[..., -2]
        return np.where(np.isfinite(gap), gap, np.nan)

    def act(self, given: Mapping[str, Any]) -> Any:
        """Return the action for what is known; irrelevant variables are ignored.

        Args:
            given: {name: state}.

        Raises:
            InvalidEvidence: the state of something that matters is missing.
            UnknownState: a value that is not a state.
            ImpossibleEvidence: this cannot happen.

        >>> rain, umbrella = Variable("rain", [False, True]), Variable("umbrella", ["leave", "take"])
        >>> Rule.of(umbrella, (rain,), np.array([[8.0, 5.0], [-10.0, 2.0]])).act({"rain": True})
        'take'
        """
        if not isinstance(given, Mapping):
            raise InvalidEvidence(f"What is known is a dict {{name: state}}, not {shown(given)}.")
        codes = []
        for variable in self.given:
            if variable.name not in given:
                raise InvalidEvidence(
                    f"What to do at {self.decision.name!r} depends on {variable.name!r}: give its state too."
                )
            codes.append(variable.code(given[variable.name]))
        code = int(self.actions[tuple(codes)])
        if code < 0:
            case = {v.name: v.states[c] for v, c in zip(self.given, codes, strict=True)}
            raise ImpossibleEvidence(
                f"{condition(case)} cannot happen when {self.decision.name!r} is decided: there is no advice "
                "for it.",
                case,
            )
        return self.decision.states[code]

    def __getitem__(self, key: Any) -> Any:
        states = key if isinstance(key, tuple) and len(self.given) != 1 else (key,)
        if not self.given:
            states = ()
        if len(states) != len(self.given):
            raise KeyError(key)
        return self.act({v.name: state for v, state in zip(self.given, states, strict=True)})

    def __iter__(self) -> Iterator[Any]:
        keys = product(*[v.states for v in self.given])
        for key, code in zip(keys, self.actions.flat, strict=True):
            if code >= 0:
                yield key[0] if len(key) == 1 else key

    def __len__(self) -> int:
        return int((self.actions >= 0).sum())

    def to_dict(self) -> dict[Any, Any]:
        """{what is known: action}."""
        return dict(self)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with a row for each possible case: what is known, the action, its value."""
        rows = [
            [*states, self.decision.states[code], *worth]
            for states, code, worth in self._cases()
            if code >= 0
        ]
        header = [*[v.name for v in self.given], self.decision.name, *map(str, self.decision.states)]
        frame: pd.DataFrame = pandas().DataFrame(rows, columns=header)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the rule as a table of colours; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.rule(self, ax, figsize=figsize, title=title)

    def _cases(self) -> Iterator[tuple[tuple[Any, ...], int, list[float]]]:
        keys = product(*[v.states for v in self.given])
        flat = self.worth.reshape(-1, self.decision.card)
        for key, code, worth in zip(keys, self.actions.flat, flat, strict=True):
            yield key, int(code), worth.tolist()

    def __eq__(self, other: object) -> bool:
        """Equal when decision, what is known and all values are."""
        if not isinstance(other, Rule):
            return NotImplemented
        return (
            self.decision == other.decision
            and self.given == other.given
            and np.array_equal(self.worth, other.worth, equal_nan=True)
        )

    def __hash__(self) -> int:
        return hash((self.decision, self.given))

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        header = [*[label(v.name) for v in self.given], label(self.decision.name)]
        header += [*map(label, self.decision.states), "second best loses"]
        rows = []
        loses = self.loses.flat
        for (states, code, worth), gap in islice(zip(self._cases(), loses, strict=True), ROWS):
            action = "cannot happen" if code < 0 else label(self.decision.states[code])
            cells = ["-" if not math.isfinite(w) else f"{w:.6f}" for w in worth]
            rows.append([*map(label, states), action, *cells, "-" if math.isnan(gap) else f"{gap:.6f}"])
        more = self.actions.size - len(rows)
        return header, rows, f"... {more:,} more of {self.actions.size:,} rows" if more else ""
