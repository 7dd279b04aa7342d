"""Learning chains that emit together by structured mean field: EM on the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.inference.engines.chain import expected
from pgm.inference.engines.mean_field import MeanField
from pgm.inference.engines.parallel_chains import Emitted
from pgm.inference.engines.parallel_chains.ascent import Approximation, approximated, climbed, rows_of
from pgm.inference.engines.parallel_chains.drawing import NoPath
from pgm.learning import EStep
from pgm.randomness import generator

from .factorial_engines import chains_of, emitted_of, no_path
from .hidden_learning import HiddenLearning

if TYPE_CHECKING:
    from .hidden import HiddenChain


class FactorialLearning(HiddenLearning):
    """Learning whose expected counts are those of independent chains.

    Each E-step continues from the beliefs of the one before, so the bound never falls.
    """

    def __init__(self, model: Any, read: Any, weights: Any, fixed: Any, prior: Any, how: MeanField) -> None:
        """Check what was asked for."""
        super().__init__(model, read, weights, fixed, prior)
        self.how = how
        self.beliefs: list[np.ndarray] | None = None

    def begin(self, random: np.random.Generator, anew: bool) -> HiddenChain:
        """The parameters that learning begins with; beliefs start over."""
        self.beliefs = None
        if not self.model._emission.has_parameters or anew:
            self.model._check_size(len(self.observed.rows))  # a guess has a weight for each row and state
        return super().begin(random, anew)

    def expect(self, now: Any) -> EStep[Any]:
        """Expected counts, and the bound."""
        chains, emitted = chains_of(now), emitted_of(now, self.read, self.observed)
        how, random = self.how, generator(self.how.seed)
        try:
            if self.beliefs is None:
                found = approximated(chains, emitted, how.restarts, how.max_iter, how.tol, random, self.clock)
            else:
                found = climbed(chains, emitted, self.beliefs, how.max_iter, how.tol, random, self.clock)
        except NoPath as error:
            raise no_path(self.read, error.row) from None
        self.beliefs = found.beliefs
        counts = {}
        for name, chain, field in zip(now.chains, chains, found.fields, strict=True):
            those = expected(chain, rows_of(field, emitted), self.weight, self.clock)
            counts["initial", name], counts["transition", name] = those.first, those.pairs
        bound = float(self.weight @ np.add.reduceat(found.shares, self.read.starts[:-1]))
        return EStep(bound, bound + self._log_prior(now), (counts, (found, emitted)))

    def gathered(self, emission: Any, seen: tuple[Approximation, Emitted]) -> Any:
        """Sufficient statistics of what tuples of states emitted, a batch of steps at a time."""
        found, emitted = seen
        heavy = np.repeat(self.weight, self.read.lengths)
        rows, code, k = self.observed.rows, self.observed.code, emission.n_states
        total: Any = None
        if code.size:
            check_cells((len(rows), k), "What each distinct observation adds", "choose fewer states")
            total = np.zeros((len(rows), k))
        for a, b in emitted.pieces():
            self.clock.check("EM")
            joint = heavy[a:b, None]
            for q in found.beliefs:
                joint = (joint[:, :, None] * q[a:b, None, :]).reshape(b - a, -1)
            if code.size:
                order = np.argsort(code[a:b], kind="stable")
                which, first = np.unique(code[a:b][order], return_index=True)
                total[which] += np.add.reduceat(joint[order], first, axis=0)
                continue
            some = emission.gathered(rows[a:b], joint)
            total = some if total is None else total + some
        return emission.gathered(rows, total) if code.size else total
