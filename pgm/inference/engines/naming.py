"""From arrays to results under the user's names, for engines whose variables are all discrete."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from pgm.evidence import Observed
from pgm.inference.engines.wide_numbers import Wide, log_of, ratio_of
from pgm.results import Assignment, Density, Distribution, Marginals, Report, Samples
from pgm.variables import VariableList, states_array

if TYPE_CHECKING:
    from pgm.inference.program import Program
    from pgm.inference.program.reduction import Known
    from pgm.runtime.clock import Clock

_SURE: Wide = (0.5, 1)
_NAME = attrgetter("name")
_COLUMNS, _CELLS = 1_000, 4_000_000  # of samples, at most, between two checks of the clock


@dataclass(frozen=True, eq=False, slots=True)
class Explanation:
    """States of the targets, P(states, known), and how they were found."""

    codes: np.ndarray
    value: Wide
    report: Report
    bound: float | None = None  # on log P(states, known) of any states; None: these are the best

    def of(self, targets: Sequence[int] | None) -> Explanation:
        """This explanation, of all variables, restricted to these; None: all of it."""
        if targets is None:
            return self
        return Explanation(self.codes[list(targets)], self.value, self.report, self.bound)


class _Asked:
    """What the methods below need."""

    __slots__ = ()
    if TYPE_CHECKING:
        program: Program
        known: Known
        clock: Clock

        @property
        def report(self) -> Report:
            """How the answers asked for so far were made."""

    @property
    def doubtful(self) -> bool:
        """Exact engines always converge."""
        return False


class NamedSums(_Asked):
    """Distributions from an engine that computes them as arrays."""

    __slots__ = ()

    def joint(self, targets: Sequence[int], question: str = "the joint distribution") -> np.ndarray:
        """P(targets | known), one axis for each target in this order."""
        raise NotImplementedError

    def marginals(self, targets: Sequence[int] | None = None) -> np.ndarray:
        """P(v | known) for all of the user's variables, concatenated."""
        raise NotImplementedError

    def distribution(self, variables: VariableList, targets: Sequence[int]) -> Distribution | Density:
        """P(targets | known)."""
        asked = tuple(map(variables.__getitem__, targets))
        what = f"P({', '.join(map(_NAME, asked))})" if len(asked) < 4 else "the joint distribution"
        values = self.joint(targets, what)
        return Distribution(asked, values, self.report)

    def every_marginal(self, variables: VariableList, targets: Sequence[int] | None) -> Marginals:
        """P(variable | known) of each variable that is not observed."""
        flat, hard = self.marginals(targets), self.known.hard
        begins = self.program.arrays.state_at[: len(variables)]
        if not hard and targets is None:
            return Marginals(variables, flat, begins, self.report)
        left = [i for i in (range(len(variables)) if targets is None else targets) if i not in hard]
        return Marginals(variables.take(left), flat, begins[left], self.report)


class NamedDraws(_Asked):
    """Samples from an engine that draws states."""

    __slots__ = ()

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Joint states of all the user's variables: (n, variables)."""
        raise NotImplementedError

    def samples(self, variables: VariableList, n: int, rng: np.random.Generator) -> Samples:
        """Cases from P(all variables | known)."""
        codes, columns = self.sample(n, rng), {}
        some = max(1, min(_COLUMNS, _CELLS // max(n, 1)))
        for i, v in enumerate(variables):
            if i % some == 0:
                self.clock.check("writing the samples")
            columns[v.name] = states_array(v, codes[:, i])
        return Samples(columns, self.report)


class NamedMaxima(_Asked):
    """Assignments from an engine that ranks states."""

    __slots__ = ()

    def explained(
        self, targets: Sequence[int] | None, k: int
    ) -> tuple[list[Explanation], Callable[[], Wide | None]]:
        """The k most probable, and a function for P(known), which returns None if that takes too long."""
        raise NotImplementedError

    def assignments(
        self,
        variables: VariableList,
        targets: Sequence[int] | None,
        k: int,
        observed: Observed,
        *,
        normalised: bool,
    ) -> list[Assignment]:
        """The k most probable, best first; `normalised`: without evidence the total is 1."""
        found, total = self.explained(targets, k)
        whole = _SURE if normalised and not observed.given else total()
        hard = self.known.hard
        chosen, shown = targets, variables
        if targets is None and hard:
            chosen = [i for i in range(len(variables)) if i not in hard]
        if chosen is not None:
            shown = variables.take(chosen)
        made = []
        for one in found:
            codes = one.codes[chosen] if targets is None and chosen is not None else one.codes
            log, joint = None, log_of(one.value) + observed.log_weight
            if whole is not None:
                share = ratio_of(one.value, whole)
                log = math.log(share) if 1e-300 < share < math.inf else log_of(one.value) - log_of(whole)
                log = min(log, 0.0)
            if log is not None and observed.soft:
                joint = log
            bound = None if one.bound is None else joint + (one.bound - log_of(one.value))
            made.append(Assignment(shown, codes, log, joint, one.report, bound))
        return made
