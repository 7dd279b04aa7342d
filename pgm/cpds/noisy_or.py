"""Noisy-OR: many causes, each of which brings the effect about by itself with some probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pgm import factors
from pgm.errors import InvalidTable, shown
from pgm.variables import Variable

from .base import CPD, ROWS_SHOWN, set_fields
from .rows import Array, is_number


class NoisyOr(CPD):
    """P(effect | causes) = 1 - (1 - leak) * product of 1 - p over the true causes (Pearl 1988, 4.3.2).

    It costs one number for each cause, in memory and in inference. A cause acts in its state True; of two
    other states it is the second declared, and so for the effect.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", pgm.NoisyOr({"rain": 0.9, "sprinkler": 0.8}, leak=0.1))
    >>> net.parents("wet")
    ('rain', 'sprinkler')
    """

    __slots__ = ("_leak", "_parents", "_probabilities")

    _parents: tuple[str, ...]
    _probabilities: Array
    _leak: float

    def __init__(self, causes: Mapping[str, float], leak: float = 0.0) -> None:
        if not isinstance(causes, Mapping):
            raise InvalidTable(
                f"A noisy-OR takes its causes as a dict {{name: probability}}, not {shown(causes)}."
            )
        for name, p in causes.items():
            if not isinstance(name, str):
                raise InvalidTable(f"A noisy-OR takes its causes by name, not {shown(name)}.")
            _check(p, f"cause {name!r}")
        _check(leak, "leak")
        probabilities = np.array([float(p) for p in causes.values()])
        probabilities.flags.writeable = False
        set_fields(
            self,
            _child=None,
            _given=(),
            _parents=tuple(causes),
            _probabilities=probabilities,
            _leak=float(leak),
        )

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the causes, in the order given."""
        return self._parents

    @property
    def probabilities(self) -> dict[str, float]:
        """For each cause the probability that it brings the effect about by itself."""
        return dict(zip(self._parents, self._probabilities.tolist(), strict=True))

    @property
    def leak(self) -> float:
        """The probability of the effect without any cause."""
        return self._leak

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> NoisyOr:
        """Return this gate for the effect `name`; it and its causes must have two states."""
        child = Variable(name, (False, True) if states is None else states)
        for variable in (child, *given):
            if variable.card != 2:
                raise InvalidTable(
                    f"{name!r}: a noisy-OR is of variables with two states; "
                    f"{variable.name!r} has {variable.card}: {list(variable.states[:10])}."
                )
        if _active(child) != 1:
            raise InvalidTable(f"{name!r}: the effect of a noisy-OR has its states in the order False, True.")
        return self.renamed(child, given)

    def factor(self, scope: Sequence[int]) -> factors.NoisyOr:
        """Return the gate as a factor of the variables at these positions."""
        active = np.array([_active(v) for v in self.given], dtype=np.int64)
        return factors.NoisyOr(np.array(scope, dtype=np.int64), self._probabilities, self._leak, active)

    def table(self, limit: int | None = None) -> Array:
        """Return P(effect | causes) written out: 2 ** (causes + 1) numbers."""
        shape = self._cells(limit)
        quiet = np.full(shape[:-1], 1.0 - self._leak)
        for axis, (variable, p) in enumerate(zip(self.given, self._probabilities.tolist(), strict=True)):
            factor = np.ones((2,) + (1,) * (len(shape) - 2 - axis))
            factor[_active(variable)] = 1.0 - p
            quiet *= factor
        table = np.stack([quiet, 1.0 - quiet], axis=-1)
        table.flags.writeable = False
        return table

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same gate of other variables."""
        made = self.__new__(type(self))
        set_fields(
            made,
            _child=child,
            _given=given,
            _parents=tuple([v.name for v in given]),
            _probabilities=self._probabilities,
            _leak=self._leak,
        )
        return made

    @property
    def n_parameters(self) -> int:
        """How many numbers there are: one for each cause, and the leak."""
        return len(self._parents) + 1

    def to_dict(self) -> dict[Any, Any]:
        """Return {"causes": {name: p}, "leak": p}."""
        return {"causes": self.probabilities, "leak": self._leak}

    def __eq__(self, other: object) -> bool:
        """Tell whether the numbers are equal, and if both belong to networks, the variables."""
        if not isinstance(other, NoisyOr):
            return NotImplemented
        if self._leak != other._leak or self.probabilities != other.probabilities:
            return False
        return self._child == other._child and set(self._given) == set(other._given)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        if len(self._parents) > 5:
            return f"NoisyOr({len(self._parents)} causes, leak={self._leak!r})"
        return f"NoisyOr({self.probabilities!r}, leak={self._leak!r})"

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        causes = list(self.probabilities.items())
        rows = [[name, f"{p:.6g}"] for name, p in [*causes[:ROWS_SHOWN], ("(no cause)", self._leak)]]
        return ["noisy-OR of", "p"], rows, len(causes) + 1


def _active(variable: Variable) -> int:
    """Return the code of the state that acts."""
    found = variable.domain.find(True)
    return found if found >= 0 else 1


def _check(p: object, what: str) -> None:
    if not is_number(p) or not 0.0 <= float(p) <= 1.0:  # type: ignore[arg-type]
        raise InvalidTable(f"The {what} of a noisy-OR needs a probability from 0 to 1, not {shown(p)}.")
