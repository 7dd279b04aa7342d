"""Noisy-OR and noisy-AND as users see them; noisy_max.py makes their tables for inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pgm.printing import chances

from .base import ROWS_SHOWN, active, set_fields
from .noisy_max import NoisyMax, check_probability


class _OfTwo(NoisyMax):
    """What noisy-OR and noisy-AND add: an effect with two states."""

    __slots__ = ()
    of_two = True

    def __init__(self, causes: Mapping[str, Any], leak: float = 0.0) -> None:
        super().__init__(causes, leak)

    @classmethod
    def from_q(cls, causes: Mapping[str, float], leak: float = 0.0) -> Self:
        """Make the gate from the probabilities q = 1 - p that a cause fails to act, as some books write it.

        `leak` remains a probability p.

        Args:
            causes: {parent: q}.
            leak: the probability p of causes that are not named, as in the constructor.

        Raises:
            InvalidTable: an entry is not a probability.

        >>> NoisyOr.from_q({"rain": 0.1, "sprinkler": 0.2})
        NoisyOr({'rain': 0.9, 'sprinkler': 0.8}, leak=0.0)
        """
        if isinstance(causes, Mapping):
            for name, q in causes.items():
                check_probability(q, f"cause {name!r} (q) of a {cls.label}")
        made = cls(causes, leak)
        swapped = tuple([pair[::-1] for pair in made._written[:-1]])  # type: ignore[index]
        set_fields(made, _written=(*swapped, made._written[-1]))
        return made

    @property
    def probabilities(self) -> dict[str, float]:
        """For each cause with a single probability, that of the effect if this cause acts alone."""
        if self._child is None:
            entries = zip(self._parents, self._written[:-1], strict=True)
            return {name: entry[1] for name, entry in entries if isinstance(entry, tuple)}
        found = {}
        for v, effect, has in zip(self._given, self._effects, self._free, strict=True):
            at = active(v) if not self.smallest else 1 - active(v)
            if v.card == 2 and has[at] and not has[1 - at]:
                found[v.name] = float(effect[at, 0 if self.smallest else 1])
        return found

    @property
    def leak(self) -> float:
        """The probability of the effect (for noisy-AND: of its absence) if no cause acts."""
        if self._child is None:
            return self._written[-1][1]  # type: ignore[index, no-any-return]
        return float(self._leak[0 if self.smallest else 1])

    def to_dict(self) -> dict[Any, Any]:
        """Return {"causes": {name: p}, "leak": p}; {state: {state: p}} for causes with several p."""
        return {"causes": {**super().to_dict()["causes"], **self.probabilities}, "leak": self.leak}

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        if len(self._parents) > 5:
            return f"{type(self).__name__}({len(self._parents)} causes, leak={self.leak!r})"
        entries = [e[1] if isinstance(e, tuple) else e for e in self._written[:-1]]
        return (
            f"{type(self).__name__}({dict(zip(self._parents, entries, strict=True))!r}, leak={self.leak!r})"
        )

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        simple = self.probabilities
        if len(simple) < len(self._given):
            return super()._lines()
        acts = [(v, v.states[1 - active(v) if self.smallest else active(v)]) for v in self._given]
        rows = [[v.name, state, *chances([simple[v.name]])] for v, state in acts[:ROWS_SHOWN]]
        rows.append(["(leak)", "(always)", *chances([self.leak])])
        brought = self.child.states[0 if self.smallest else 1]
        return [f"{self.label} of", "acts in", f"p({brought})"], rows, len(simple) + 1


class NoisyOr(_OfTwo):
    """P(effect | causes) = 1 - (1 - leak) * product of 1 - p over the true causes (Pearl 1988, 4.3.2).

    It costs one float per cause, in memory and in inference. A cause acts in its state True, or in the state
    declared second of two others, and the effect likewise; the printed form shows which. If their order was
    never declared, this is an error. A cause with more states takes {state: p}; a state left out has no
    effect.

    Args:
        causes: {name: p}, or {name: {state: p}}.
        leak: P(effect) if no cause acts.

    Raises:
        InvalidTable: an entry is not a probability, or the parents cannot be read; states that do not fit
            are refused when it is added to a network.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", pgm.NoisyOr({"rain": 0.9, "sprinkler": 0.8}, leak=0.1))
    >>> net.parents("wet")
    ('rain', 'sprinkler')
    """

    __slots__ = ()
    kind, label = "noisy-or", "noisy-OR"


class NoisyAnd(_OfTwo):
    """P(effect | conditions) = (1 - leak) * product of 1 - p over the false conditions: noisy-OR negated.

    A condition that is False prevents the effect with its probability p, and unmodelled causes do so with
    probability `leak`. With all p = 1 and no leak it is AND. Conditions with more states take
    {state: P(effect)}; a state left out prevents nothing.

    Args:
        causes: {name: p}, or {name: {state: P(effect)}}: the conditions.
        leak: the probability that the effect is prevented although all conditions hold.

    Raises:
        InvalidTable: an entry is not a probability, or the parents cannot be read; states that do not fit
            are refused when it is added to a network.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("key", 0.9); net.add("fuel", 0.8)
    >>> net.add("starts", pgm.NoisyAnd({"key": 1.0, "fuel": 0.95}, leak=0.1))
    >>> round(net.cpd("starts").probability({"key": True, "fuel": False, "starts": True}), 6)
    0.045
    """

    __slots__ = ()
    kind, label = "noisy-and", "noisy-AND"
    smallest = True
