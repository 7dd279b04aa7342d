"""EM for mixtures: responsibilities in the shared EM algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.distributions import Emission
from pgm.distributions.normal import NORMALS
from pgm.distributions.of_states import completed
from pgm.errors import ImpossibleEvidence, InvalidArgument, listed, nearest, shown
from pgm.frames import Sequences, weights_of
from pgm.learning import Collapsed, EStep, climb, strides
from pgm.models.dynamic.checks import MOST_STARTS, normalised, parts_fixed
from pgm.models.dynamic.hmm_labels import Labelled
from pgm.models.dynamic.hmm_priors import EmissionPrior, counts_of, of_emission
from pgm.results import FitReport
from pgm.runtime.clock import Clock, start_clock

from .labels import Labels

if TYPE_CHECKING:
    from .mixture import Mixture

_PARTS = ("weights", "emission")
METHODS = ("em", "squarem", "hard")
_ENOUGH = 10  # complete rows for each component and entry, to start from these alone


@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a mixture."""

    weights: np.ndarray
    emission: Emission


@dataclass(frozen=True, eq=False)
class Counted:
    """Responsibilities, and the log density of each row."""

    shares: np.ndarray  # (distinct rows, components), weighted by how often each row occurs
    logs: np.ndarray  # of rows together with labels


class MixtureLearning:
    """What is learned, from what, and what is fixed; one for each call of `fit`."""

    def __init__(
        self,
        model: Mixture,
        read: Sequences,
        labels: Labels,
        *,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        method: Any = "em",
    ) -> None:
        """Check what was asked for."""
        if not isinstance(method, str) or method not in METHODS:
            raise InvalidArgument(
                f"method= is {listed(METHODS)}, not {shown(method)}.{nearest(method, METHODS)}"
            )
        if method == "squarem" and not hasattr(model.emission, "with_parameters"):
            raise InvalidArgument(f'method="squarem" does not work with a {type(model.emission).__name__}.')
        self.model, self.read, self.method, self.labels = model, read, method, labels
        self.k, self.clock = model.n_components, start_clock()
        self.observed = model.emission.read(read)
        self.heavy = weights_of(weights, read.n_rows)
        if not self.heavy.any():
            raise InvalidArgument("weights= are all 0: there is nothing to learn from.")
        rows, code = self.observed.rows, self.observed.code
        self.seen = Labelled.of(self.observed, labels.codes, self.k)
        pairs = len(rows) if self.seen.base is None else len(self.seen.base)
        self.counts = np.bincount(code, self.heavy, len(rows)) if code.size else self.heavy
        self.times = np.bincount(self.seen.code, self.heavy, pairs) if self.seen.code.size else self.heavy
        self.spread = _spreads(rows)
        shapes = dict.fromkeys(_PARTS, (model.n_components,))
        self.fixed = parts_fixed(fixed, shapes, model.variable, "components")
        stays = self.fixed["emission"]
        stays[:] |= not getattr(model.emission, "learns", True)
        shared = getattr(model.emission, "form", "") == "tied" or getattr(model.emission, "shared", False)
        if shared and stays.any() and not stays.all():
            raise InvalidArgument(
                'form="tied" is one covariance for all components: fix the emission of all, or of none.'
            )
        self._take_prior(prior)

    def _take_prior(self, prior: Any) -> None:
        given = prior if isinstance(prior, Mapping) else dict.fromkeys(_PARTS, prior)
        for name in given:
            if name not in _PARTS:
                raise InvalidArgument(
                    f"prior= has no part {shown(name)}; there are {listed(_PARTS)}.{nearest(name, _PARTS)}"
                )
        self.prior_weights = counts_of(given.get("weights"), (self.k,), "weights")
        if (self.prior_weights < 0.0).any():
            raise InvalidArgument(
                "prior= of 'weights': a Dirichlet with parameters below 1 need not have a mode, and `fit` "
                "looks for it; use parameters from 1 on."
            )
        model, rows = self.model, self.observed.rows
        believed = of_emission(given.get("emission"), model.emission, model.variable, rows, self.counts)
        if believed is not None and self.fixed["emission"].any() and not self.fixed["emission"].all():
            raise InvalidArgument(
                "A prior of the emission cannot be combined with components whose emission is fixed."
            )
        self.prior_emission: EmissionPrior | None = believed
        of_symbols = getattr(believed, "statistics", None)
        if isinstance(of_symbols, np.ndarray) and (of_symbols < 0.0).any():
            raise InvalidArgument(
                "prior= of 'emission': a Dirichlet with parameters below 1 need not have a mode, and `fit` "
                "looks for it; use parameters from 1 on."
            )

    # --- the two steps ---

    def expect(self, now: Parameters) -> EStep[Counted]:
        """The E-step: responsibilities; with "hard", all on the most probable component."""
        self.clock.check("EM")
        logs = self.labels.added(now.emission.log_rows(self.observed.rows), self.seen)
        with np.errstate(divide="ignore"):
            logs += np.log(now.weights)
        shares, each = believed(logs, self.times)
        bad = np.flatnonzero(~(each > -np.inf) & (self.times > 0.0))
        if bad.size:
            raise self._impossible(int(bad[0]))
        if self.method == "hard":
            best = logs.argmax(axis=1)
            shares = np.zeros_like(logs)
            shares[np.arange(len(best)), best] = self.times
            each = logs[np.arange(len(best)), best]
        log = float(self.times @ np.where(self.times > 0.0, each, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            some = self.prior_weights * np.log(now.weights)
            prior = float(np.where(self.prior_weights > 0.0, some, 0.0).sum())
        if self.prior_emission is not None:
            prior += self.prior_emission.log(now.emission)
        return EStep(log, log + prior, Counted(shares, each))

    def _impossible(self, pair: int) -> ImpossibleEvidence:
        row = int((self.seen.code == pair).argmax()) if self.seen.code.size else pair
        place, state = self.read.place(row), self.seen.state_of(row)
        label = "" if state < 0 else f" in the component {shown(self.model.states[state])}"
        return ImpossibleEvidence(
            f"{place[0].upper()}{place[1:]}: what is observed here is impossible{label} with the parameters "
            "that learning begins with. Zeros stay zero: begin with others, or leave out what is to be "
            "learned."
        )

    def statistics(self, emission: Emission, counted: Counted, fixed: np.ndarray | None = None) -> Any:
        """Sufficient statistics of the emission, with none for components that are `fixed`."""
        shares = self.seen.per_row(counted.shares, len(self.observed.rows))
        if fixed is not None and fixed.any():
            shares = np.where(fixed, 0.0, shares)
        return emission.gathered(self.observed.rows, shares)

    def maximise(self, now: Parameters, found: Counted, iteration: int) -> Parameters:
        """The M-step: maximum likelihood parameters for these responsibilities."""
        counts = found.shares.sum(axis=0) + self.prior_weights
        weights = normalised(counts[None], now.weights[None], self.fixed["weights"][None])[0]
        emission, fixed = now.emission, self.fixed["emission"]
        if not fixed.all():
            try:
                emission = self.fitted(emission, self.statistics(emission, found, fixed))
            except InvalidArgument:  # the remaining components have no weight, and keep their parameters
                if not (found.shares.sum(axis=0)[fixed].any() and not found.shares[:, ~fixed].any()):
                    raise
            self.check(emission, f"in iteration {iteration}")
        return Parameters(weights, emission)

    def fitted(self, emission: Any, statistics: Any) -> Emission:
        """The most probable emission for these statistics."""
        believed = self.prior_emission
        found = emission.fitted(statistics) if believed is None else believed.fitted(emission, statistics)
        if found is None:
            raise Collapsed("The covariance of a component is no longer positive definite: data on one line.")
        return found  # type: ignore[no-any-return]

    def check(self, emission: Any, when: str) -> None:
        """Raise where a density has shrunk to a point."""
        if hasattr(emission, "collapse") and self.spread is not None:
            bad, entry = emission.collapse(self.spread) or (None, None)
        else:
            bad, entry = emission.collapsed(self.observed.rows), None
        if bad is None:
            return
        column = "" if entry is None else f" in the column {shown(self.model.columns[entry])}"
        raise Collapsed(
            f"The component {shown(self.model.states[bad])} collapsed{column} {when}: the rows that it "
            "explains lie on one point or line, and the likelihood has no bound. Use fewer components, "
            'another form= of covariance, or prior={"emission": 1.0}, which adds a row to each component '
            "that varies as all data do."
        )

    def stride(self, first: Parameters, second: Parameters, third: Parameters) -> Parameters | None:
        """Extrapolate from three successive parameters (SQUAREM)."""
        way = [_flat(each) for each in (first, second, third)]
        for flat in strides(*way):
            weights = flat[: self.k]
            if (weights < 0.0).any():
                continue
            arrays, at = [], self.k
            for like in third.emission.parameters():  # type: ignore[attr-defined]
                arrays.append(flat[at : at + like.size].reshape(like.shape))
                at += like.size
            emission = third.emission.with_parameters(arrays)  # type: ignore[attr-defined]
            if emission is not None and emission.collapsed(self.observed.rows) is None:
                return Parameters(weights / weights.sum(), emission)
        return None

    # --- initialisation ---

    def given(self, random: np.random.Generator) -> Parameters:
        """The parameters that the model has, and guesses for the others."""
        model = self.model
        if model._weights is not None and model.emission.has_parameters:
            return Parameters(model._weights, model.emission)
        guess = self.guess(random)
        return Parameters(
            guess.weights if model._weights is None else model._weights,
            model.emission if model.emission.has_parameters else guess.emission,
        )

    def guess(self, random: np.random.Generator) -> Parameters:
        """Initial guesses from the data, except for what is fixed: clusters around distant centres."""
        emission, counts = self.model.emission, self.counts
        rows, fixed = self.observed.rows, self.fixed["emission"]
        if fixed.any() and emission.has_parameters:
            return Parameters(self._own_weights(np.full(self.k, 1.0 / self.k)), emission)
        if self.spread is not None and (gaps := np.isnan(rows).any(axis=1)).any():
            if (counts[~gaps] > 0.0).sum() < _ENOUGH * self.k * rows.shape[1] and emission.domain is None:
                rows = _filled(emission, rows)
            else:
                counts = np.where(gaps, 0.0, counts)
        shares = self.labels.first(emission.first_guess(rows, counts, self.k, random), self.seen, self.heavy)
        if not shares.any():
            raise InvalidArgument(
                f"There are too few complete rows to begin {self.k} components with: give the model "
                "parameters."
            )
        total = shares.sum(axis=0)
        made = self.fitted(emission, emission.gathered(rows, np.ascontiguousarray(shares)))
        self.check(made, "at the start")
        return Parameters(self._own_weights(total / total.sum()), made)

    def _own_weights(self, guess: np.ndarray) -> np.ndarray:
        own = self.model._weights
        return own if own is not None and self.fixed["weights"].any() else guess

    def run(
        self, starts: Any, max_iter: int, tol: float, random: np.random.Generator
    ) -> tuple[Parameters, FitReport]:
        """Run EM from each start, and keep the best."""
        if (
            isinstance(starts, bool)
            or not isinstance(starts, int | np.integer)
            or not 1 <= starts <= MOST_STARTS
        ):
            raise InvalidArgument(
                f"starts= is a whole number from 1 to {MOST_STARTS:,}, not {shown(starts)}."
            )
        self._check_fixed()
        seeds = random.spawn(int(starts))
        begin: list[Callable[[], Parameters]] = [lambda: self.given(seeds[0])]
        begin += [lambda seed=seed: self.guess(seed) for seed in seeds[1:]]  # type: ignore[misc]
        self._check_apart(int(starts))
        best, reports, chosen = climb(
            begin,
            self.expect,
            self.maximise,
            max_iter=max_iter,
            tol=tol,
            clock=self.clock,
            what="EM of a mixture",
            stride=self.stride if self.method == "squarem" else None,
        )
        self.clock = Clock(None, None)  # the result is checked even when the time is up
        self.last = self.expect(best).statistics
        visits = self.last.shares.sum(axis=0)
        kept = [s for s, v in zip(self.model.states, visits.tolist(), strict=True) if not v > 0.0]
        made = reports[chosen].changed(
            n_parameters=self._n_free(best),
            n_rows=self.read.n_rows,
            starts=tuple(report.log_likelihoods for report in reports),
            kept=tuple(kept),
        )
        return best, made

    def _check_fixed(self) -> None:
        if self.fixed["weights"].any() and self.model._weights is None:
            raise InvalidArgument("fixed= names 'weights', which has no parameters yet.")
        if self.fixed["emission"].any() and not self.model.emission.has_parameters:
            raise InvalidArgument("fixed= names 'emission', which has no parameters yet.")

    def _check_apart(self, starts: int) -> None:
        """Refuse a start that EM cannot leave: all components are alike, and no label tells them apart."""
        model = self.model
        if starts > 1 or self.k == 1 or not model.emission.has_parameters or not self.labels.silent:
            return
        if self.fixed["emission"].all() or not hasattr(model.emission, "parameters"):
            return
        if all((part == part[:1]).all() for part in model.emission.parameters()):
            raise InvalidArgument(
                "EM cannot begin here: all components are alike, so no step would ever distinguish them. "
                "Give them other parameters, leave these out, or take starts=5: all but the first are "
                "guesses."
            )

    def _n_free(self, now: Parameters) -> int:
        free = int(((now.weights > 0.0) & ~self.fixed["weights"]).sum())
        return max(free - 1, 0) + now.emission.n_free(~self.fixed["emission"])


def believed(logs: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From log densities, rows by components: responsibilities times counts, and the log sum of each row.

    >>> shares, logs = believed(np.log([[0.1, 0.3]]), np.array([2.0]))
    >>> shares.round(6).tolist(), np.exp(logs).round(6).tolist()
    ([[0.5, 1.5]], [0.4])
    """
    shares, each = np.empty(logs.shape), np.empty(len(logs))
    NORMALS.believed(np.ascontiguousarray(logs).reshape(-1), times, shares.reshape(-1), each)
    return shares, each


def _flat(now: Parameters) -> np.ndarray:
    parts = [now.weights, *now.emission.parameters()]  # type: ignore[attr-defined]
    return np.concatenate([part.reshape(-1) for part in parts])


def _spreads(rows: np.ndarray) -> np.ndarray | None:
    """The standard deviation of each continuous column, None if rows are codes."""
    if rows.ndim != 2 or rows.dtype.kind != "f":
        return None
    found = np.empty(rows.shape[1])
    NORMALS.spreads(np.ascontiguousarray(rows).reshape(-1), rows.shape[1], found)
    return found


def _filled(emission: Any, rows: np.ndarray) -> np.ndarray:
    """Rows with missing continuous values replaced by the mean of their column."""
    real = getattr(emission, "continuous_columns", np.ones(rows.shape[1], bool))
    return np.where(real, completed(rows), rows)
