"""Learning hidden Markov models by EM, from the expected counts of a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.distributions import Emission
from pgm.errors import ImpossibleEvidence, InvalidArgument, listed, nearest, shown
from pgm.frames import Sequences
from pgm.inference.engines import chain as engine
from pgm.learning import Collapsed, EStep, climb, strides
from pgm.results import FitReport
from pgm.runtime.clock import Clock, start_clock

from .checks import MOST_STARTS, normalised, parts_fixed, weights_of
from .hmm_labels import Labelled
from .hmm_priors import EmissionPrior, counts_of, of_emission

if TYPE_CHECKING:
    from .hmm import HMM

_NEGLIGIBLE = 2.0**-200  # a transition that is used less often changes no digit of any answer
_PARTS = ("initial", "transition", "emission")
METHODS = ("em", "squarem", "viterbi")


@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a hidden Markov model."""

    start: np.ndarray
    move: np.ndarray
    emission: Emission


class HMMLearning:
    """One call of `fit`: the model, the data, the priors, and what stays fixed."""

    def __init__(
        self,
        model: HMM,
        read: Sequences,
        known: np.ndarray | None = None,
        *,
        weights: Any = None,
        fixed: Any = (),
        prior: Any = None,
        method: Any = "em",
        climbs: bool = True,
    ) -> None:
        """Check what was asked for; `known` are codes of states, -1 where they were not observed.

        If the posterior is maximised (`climbs`), priors need a mode; draws from it do not.
        """
        if method not in METHODS:
            raise InvalidArgument(
                f"method= is {listed(METHODS)}, not {shown(method)}.{nearest(method, METHODS)}"
            )
        if method == "squarem" and not hasattr(model.emission, "with_parameters"):
            raise InvalidArgument(f'method="squarem" does not work with a {type(model.emission).__name__}.')
        self.model, self.read, self.method = model, read, method
        self.k = model.n_states
        self.observed = model.emission.read(read)
        self.seen = Labelled.of(self.observed, known, self.k)
        rows, code = self.observed.rows, self.observed.code
        self.weight = weights_of(weights, len(read))
        heavy = np.repeat(self.weight, read.lengths)
        self.counts = np.bincount(code, heavy, len(rows)) if code.size else heavy
        self.clock = start_clock()
        k = model.n_states
        shapes: dict[str, tuple[int, ...]] = {"initial": (k,), "transition": (k, k), "emission": (k,)}
        self.fixed = parts_fixed(fixed, shapes, model.variable, "states")
        stays = self.fixed["emission"]
        stays[:] |= not getattr(model.emission, "learns", True)
        shared = getattr(model.emission, "form", "") == "tied" or getattr(model.emission, "shared", False)
        if shared and stays.any() and not stays.all():
            raise InvalidArgument(
                'form="tied" is one covariance for all states: fix the emission of all of them, or of none.'
            )
        self.counted: tuple[Parameters, engine.Expected] | None = None  # the last E-step
        self.raised: tuple[Parameters, engine.Expected] | None = None  # the last M-step, and its counts
        self._take_prior(prior, climbs)

    def _take_prior(self, prior: Any, climbs: bool) -> None:
        k, model = self.k, self.model
        given = prior if isinstance(prior, Mapping) else dict.fromkeys(_PARTS, prior)
        for name in given:
            if name not in _PARTS:
                raise InvalidArgument(
                    f"prior= names {shown(name)}; the parts are {listed(_PARTS)}.{nearest(name, _PARTS)}"
                )
        self.prior_start = counts_of(given.get("initial"), (k,), "initial") * model._first
        self.prior_move = counts_of(given.get("transition"), (k, k), "transition") * model._mask
        if model._initial is not None:
            self.prior_start = self.prior_start * (model._initial > 0)
        if model._transition is not None:
            self.prior_move = self.prior_move * (model._transition > 0)
        rows = self.observed.rows
        believed = of_emission(given.get("emission"), model.emission, model.variable, rows, self.counts)
        if believed is not None and self.fixed["emission"].any() and not self.fixed["emission"].all():
            raise InvalidArgument(
                "A prior of the emission cannot be combined with states whose emission is fixed."
            )
        self.prior_emission: EmissionPrior | None = believed
        if climbs:
            self._check_modes()

    def _check_modes(self) -> None:
        of_symbols = getattr(self.prior_emission, "statistics", None)
        for name, counts in (
            ("initial", self.prior_start),
            ("transition", self.prior_move),
            ("emission", of_symbols),
        ):
            if isinstance(counts, np.ndarray) and (counts < 0.0).any():
                raise InvalidArgument(
                    f"prior= of {name!r}: a Dirichlet with parameters below 1 need not have a mode, which "
                    "`fit` looks for; use parameters of at least 1."
                )

    # --- the two steps ---

    def expect(self, now: Parameters) -> EStep[engine.Expected]:
        """Expected counts, or those along the best paths."""
        chain, rows = self._chain(now)
        with self._naming_steps():
            if self.method == "viterbi":
                found = self._along_best(chain, rows)
            else:
                found = engine.expected(chain, rows, self.weight, self.clock)
        found = replace(found, seen=self.seen.per_row(found.seen, len(self.observed.rows)))
        self.counted = now, found
        return self._step(now, found)

    def glance(self, now: Parameters) -> EStep[engine.Expected]:
        """The log-likelihood alone."""
        chain, rows = self._chain(now)
        with self._naming_steps():
            if self.method == "viterbi":
                logs = engine.best_paths(chain, rows, self.clock)[1]
            else:
                logs = engine.log_likelihoods(chain, rows, self.clock)
        nothing = np.empty(0)
        return self._step(now, engine.Expected(nothing, nothing, nothing, logs))

    def _chain(self, now: Parameters) -> tuple[engine.Chain, engine.Rows]:
        logs = self.seen.logs(now.emission.log_rows(self.observed.rows))
        return engine.Chain(now.start, now.move), engine.Rows(logs, self.seen.code, self.read.starts)

    @contextmanager
    def _naming_steps(self) -> Iterator[None]:
        try:
            yield
        except engine.ImpossibleStep as error:
            place, state = self.read.place(error.row), self.seen.state_of(error.row)
            label = "" if state < 0 else f" in the state {shown(self.model.states[state])}"
            raise ImpossibleEvidence(
                f"{place[0].upper()}{place[1:]}: what is observed here{label} is impossible after what was "
                "observed before, under the parameters that learning starts from. Zeros stay zero: start "
                "from others, or leave out what is to be learned."
            ) from None

    def _step(self, now: Parameters, found: engine.Expected) -> EStep[engine.Expected]:
        log = float(self.weight @ found.logs)
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = np.where(self.prior_start > 0, self.prior_start * np.log(now.start), 0.0).sum()
            prior += np.where(self.prior_move > 0, self.prior_move * np.log(now.move), 0.0).sum()
        if self.prior_emission is not None:
            prior += self.prior_emission.log(now.emission)
        return EStep(log, log + float(prior), found)

    def _along_best(self, chain: engine.Chain, rows: engine.Rows) -> engine.Expected:
        path, logs = engine.best_paths(chain, rows, self.clock)
        return self.along(path, rows, logs)

    def along(self, path: np.ndarray, rows: engine.Rows, logs: np.ndarray) -> engine.Expected:
        """Counts along these paths."""
        k, heavy = self.k, np.repeat(self.weight, self.read.lengths)
        onward = np.delete(np.arange(len(path)), self.read.starts[1:] - 1)
        moves = path[onward].astype(np.int64) * k + path[onward + 1]
        pairs = np.bincount(moves, heavy[onward], k * k).reshape(k, k)
        first = np.bincount(path[self.read.starts[:-1]], self.weight, k)
        code = self.seen.code if self.seen.code.size else np.arange(len(path))
        places = code.astype(np.int64) * k + path
        seen = np.bincount(places, heavy, rows.logs.size).reshape(rows.logs.shape)
        return engine.Expected(first, pairs, seen, logs)

    def maximise(self, now: Parameters, found: engine.Expected, iteration: int) -> Parameters:
        """The most likely parameters for these counts."""
        fixed = self.fixed
        start = normalised((found.first + self.prior_start)[None], now.start[None], fixed["initial"][None])[0]
        move = normalised(found.pairs + self.prior_move, now.move, fixed["transition"])
        for table, stays in ((start, fixed["initial"]), (move, fixed["transition"])):
            table[(table < _NEGLIGIBLE) & ~stays] = 0.0
        emission = now.emission
        if not fixed["emission"].all():
            seen = np.where(fixed["emission"], 0.0, found.seen) if fixed["emission"].any() else found.seen
            try:
                emission = self._fitted(emission, emission.gathered(self.observed.rows, seen))
            except InvalidArgument:  # the states that are not fixed have no weight, and keep their parameters
                if seen.sum() > 0.0:
                    raise
            self._check(emission, f"in iteration {iteration}")
        made = Parameters(start, move, emission)
        self.raised = made, found
        return made

    def _fitted(self, emission: Any, statistics: Any) -> Emission:
        believed = self.prior_emission
        found = emission.fitted(statistics) if believed is None else believed.fitted(emission, statistics)
        if found is None:
            raise Collapsed(
                "The covariance of a state is no longer positive definite: its data lie on a line."
            )
        return found  # type: ignore[no-any-return]

    def stride(self, first: Parameters, second: Parameters, third: Parameters) -> Parameters | None:
        """Extrapolate three successive sets of parameters; None where that leads out of bounds."""
        way = [self._flat(each) for each in (first, second, third)]
        if not way[0].size == way[1].size == way[2].size:
            return None
        for flat in strides(*way):
            start, move = flat[: self.k], flat[self.k : self.k * (self.k + 1)].reshape(self.k, self.k)
            if (start < 0.0).any() or (move < 0.0).any():
                continue
            start = start / start.sum()  # a long stride makes the rounding of sums large
            move = move / move.sum(axis=1, keepdims=True)
            arrays, at = [], self.k * (self.k + 1)
            for like in third.emission.parameters():  # type: ignore[attr-defined]
                arrays.append(flat[at : at + like.size].reshape(like.shape))
                at += like.size
            emission = third.emission.with_parameters(arrays)  # type: ignore[attr-defined]
            if emission is not None and emission.collapsed(self.observed.rows) is None:
                return Parameters(start, move, emission)
        return None

    @staticmethod
    def _flat(now: Parameters) -> np.ndarray:
        parts = [now.start, now.move, *now.emission.parameters()]  # type: ignore[attr-defined]
        return np.concatenate([part.reshape(-1) for part in parts])

    def _check(self, emission: Emission, when: str) -> None:
        bad = emission.collapsed(self.observed.rows)
        if bad is not None:
            raise Collapsed(
                f"The covariance of state {shown(self.model.states[bad])} collapsed {when}: the rows that it "
                "explains lie on one point or line. Use fewer states, another form= of covariance, or "
                'prior={"emission": 1.0}, which adds to each state one row that varies as all the data do.'
            )

    # --- starting points ---

    def given(self, random: np.random.Generator) -> Parameters:
        """The current parameters, and guesses for missing ones."""
        model = self.model
        guess = self.guess(random) if self._lacks() else None
        return Parameters(
            model._initial if model._initial is not None else guess.start,  # type: ignore[union-attr]
            model._transition if model._transition is not None else guess.move,  # type: ignore[union-attr]
            model.emission if model.emission.has_parameters else guess.emission,  # type: ignore[union-attr]
        )

    def _lacks(self) -> bool:
        model = self.model
        return model._initial is None or model._transition is None or not model.emission.has_parameters

    def guess(self, random: np.random.Generator) -> Parameters:
        """Guesses from the data, except for what is fixed."""
        model, k = self.model, self.k
        start, mask = model._first, model._mask
        if model._initial is not None:
            start = start & (model._initial > 0)
        if model._transition is not None:
            mask = mask & (model._transition > 0)
        first = start / start.sum()
        shares = random.dirichlet(np.ones(k), k) * mask
        shares = 0.5 * shares / shares.sum(axis=1, keepdims=True) + 0.5 * mask / mask.sum(
            axis=1, keepdims=True
        )
        emission = model.emission
        if not self.fixed["emission"].any():
            rows = self.observed.rows
            if start.sum() == 1 and k > 1:
                weights = self._in_order()
            else:
                weights = emission.first_guess(rows, self.counts, k, random)
            weights = self.seen.labelled(weights, self.counts)
            emission = self._fitted(emission, emission.gathered(rows, weights))
            self._check(emission, "at the start")
        keep_first = self.fixed["initial"].any() and model._initial is not None
        keep_move = self.fixed["transition"].any() and model._transition is not None
        return Parameters(
            model._initial if keep_first else first,  # type: ignore[arg-type]
            model._transition if keep_move else shares,  # type: ignore[arg-type]
            emission,
        )

    def _in_order(self) -> np.ndarray:
        """Weights of states that follow one another: each has an equal stretch of every sequence."""
        lengths, k = self.read.lengths, self.k
        position = np.arange(self.read.n_rows) - np.repeat(self.read.starts[:-1], lengths)
        state = np.minimum(position * k // np.repeat(lengths, lengths), k - 1)
        rows = self.observed.rows
        code = self.observed.code if self.observed.code.size else np.arange(len(rows))
        weights = np.full((len(rows), k), 1e-3)
        np.add.at(weights, (code, state), np.repeat(self.weight, lengths))
        if rows.ndim > 1:
            weights[np.isnan(rows).any(axis=1)] = 0.0
        return weights

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
        for name in ("initial", "transition"):
            if self.fixed[name].any() and getattr(self.model, f"_{name}") is None:
                raise InvalidArgument(f"fixed= names {name!r}, which has no parameters yet.")
        if self.fixed["emission"].any() and not self.model.emission.has_parameters:
            raise InvalidArgument("fixed= names 'emission', which has no parameters yet.")
        seeds = random.spawn(int(starts))
        begin: list[Callable[[], Parameters]] = [lambda: self.given(seeds[0])]
        begin += [lambda seed=seed: self.guess(seed) for seed in seeds[1:]]  # type: ignore[misc]
        best, reports, winner = climb(
            begin,
            self.expect,
            self.maximise,
            max_iter=max_iter,
            tol=tol,
            clock=self.clock,
            what="Baum-Welch",
            stride=self.stride if self.method == "squarem" else None,
            glance=self.glance,
            together=True,
        )
        kept = () if self.method == "viterbi" else self._never_visited(best)
        logs = tuple(report.log_likelihoods for report in reports)
        made = reports[winner].changed(
            n_parameters=self._n_free(best), n_rows=self.read.n_rows, starts=logs, kept=kept
        )
        return best, made

    def _never_visited(self, now: Parameters) -> tuple[Any, ...]:
        made = next((one for one in (self.counted, self.raised) if one is not None and one[0] is now), None)
        if made is None:
            self.clock = Clock(None, None)  # what was learned is examined even after the time limit
            found = self.expect(now).statistics
        else:
            found = made[1]
        visits = found.seen.sum(axis=0)
        return tuple(s for s, v in zip(self.model.states, visits.tolist(), strict=True) if not v > 0.0)

    def _n_free(self, now: Parameters) -> int:
        fixed = self.fixed
        total = now.emission.n_free(~fixed["emission"])
        for table, stays in ((now.start[None], fixed["initial"][None]), (now.move, fixed["transition"])):
            free = ((table > 0) & ~stays).sum(axis=1)
            total += int(np.maximum(free - 1, 0).sum())
        return total
