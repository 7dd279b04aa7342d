"""EM for models of hidden chains: expected counts of tables that are used in many places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidArgument, listed, nearest, shown
from pgm.frames import Sequences
from pgm.inference.engines import staged as engine
from pgm.inference.engines.chain import ImpossibleStep, Rows
from pgm.learning import Collapsed, EStep, climb
from pgm.results import FitReport
from pgm.runtime.clock import start_clock

from .checks import MOST_STARTS, normalised, weights_of

if TYPE_CHECKING:
    from .chain_tables import Key
    from .hidden import HiddenChain

_NEGLIGIBLE = 2.0**-200  # what is used less often changes no digit of any answer


class HiddenLearning:
    """One call of `fit`: the model, the data, the priors, and which parts stay fixed."""

    def __init__(self, model: Any, read: Sequences, weights: Any, fixed: Any, prior: Any) -> None:
        """Check what was asked for."""
        self.model: HiddenChain = model
        self.read = read
        self.observed = model._emission.read(read)
        rows, code = self.observed.rows, self.observed.code
        self.weight = weights_of(weights, len(read))
        heavy = np.repeat(self.weight, read.lengths)
        self.counts = np.bincount(code, heavy, len(rows)) if code.size else heavy
        self.clock = start_clock()
        self.parts = [*dict.fromkeys(part for part, _ in model._shapes), "emission"]
        self.fixed = self._fixed(fixed)
        self.prior = self._priors(prior)
        emitted = self.prior.pop("emission")
        k = model._emission.n_states
        self.prior_emission = model._emission.pseudo(emitted, k, rows, self.counts) if emitted else None

    def _fixed(self, given: Any) -> set[str]:
        names = [given] if isinstance(given, str) else given
        if not isinstance(names, list | tuple | set | frozenset):
            raise InvalidArgument(f"fixed= is a list of {listed(self.parts)}, not {shown(given)}.")
        for name in names:
            if name not in self.parts:
                raise InvalidArgument(
                    f"fixed= names {shown(name)}; the parts are {listed(self.parts)}."
                    f"{nearest(name, self.parts)}"
                )
            lacks = any(key not in self.model._tables for key in self.model._shapes if key[0] == name)
            part = getattr(self.model, "_by_inputs", {}).get(name)
            if (
                lacks
                or (part is not None and not part.has_parameters)
                or (name == "emission" and not self.model._emission.has_parameters)
            ):
                raise InvalidArgument(f"fixed= names {name!r}, which has no parameters yet.")
        return set(names)

    def _priors(self, given: Any) -> dict[str, float]:
        by_part = given if isinstance(given, Mapping) else dict.fromkeys(self.parts, given)
        found = dict.fromkeys(self.parts, 0.0)
        for name, value in by_part.items():
            if name not in found:
                raise InvalidArgument(
                    f"prior= names {shown(name)}; the parts are {listed(self.parts)}."
                    f"{nearest(name, self.parts)}"
                )
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < np.inf:
                raise InvalidArgument(f"prior= is a number that is not negative, not {shown(value)}.")
            found[name] = float(value)
        return found

    # --- the two steps ---

    def expect(self, now: HiddenChain) -> EStep[Any]:
        """Expected counts."""
        found = expected(self, now._steps(None), now._rows_of(self.observed, self.read.starts))
        seen, ended = found.seen, np.zeros(found.seen.shape[1])
        if now._ends:  # the last rows of sequences are separate
            ends, coded = self.read.starts[1:] - 1, len(seen) > len(self.observed.rows)
            ended = seen[len(self.observed.rows) :].sum(axis=0) if coded else seen[ends].sum(axis=0)
            seen = seen[: len(self.observed.rows)] + seen[len(self.observed.rows) :] if coded else seen
        log = float(self.weight @ found.logs)
        counts = now._counted(found.begun[0], found.counts[0], ended)
        return EStep(log, log + self._log_prior(now), (counts, seen))

    def _log_prior(self, now: HiddenChain) -> float:
        total = 0.0
        for (part, _), table in now._tables.items():
            if self.prior[part]:
                total += self.prior[part] * float(np.log(table[table > 0]).sum())
        if self.prior_emission is not None:
            total += float(now._emission.expected_log(self.prior_emission))
        return total

    def maximise(self, now: HiddenChain, found: Any, iteration: int) -> HiddenChain:
        """The most likely parameters for these counts."""
        counts, seen = found
        tables = dict(now._tables)
        for key, table in now._tables.items():
            if key[0] not in self.fixed:
                tables[key] = shares(counts[key] + self.prior[key[0]] * (table > 0), table)
        emission = now._emission
        if "emission" not in self.fixed:
            emission = emission.fitted(self.gathered(emission, seen), self.prior_emission)
            self.check(emission, f"in iteration {iteration}")
        made: HiddenChain = now._refined(now._with(tables, emission), counts, self.fixed)
        return made

    def gathered(self, emission: Any, seen: Any) -> Any:
        """Sufficient statistics of what was emitted."""
        return emission.gathered(self.observed.rows, seen)

    def check(self, emission: Any, when: str) -> None:
        """Refuse an emission whose density is unbounded."""
        bad = emission.collapsed(self.observed.rows)
        if bad is not None:
            raise Collapsed(
                f"The covariance of row {bad} of the emission collapsed {when}: the data that it explains "
                'lie on one point or line. Use fewer states, or prior={"emission": 1.0}, which adds to each '
                "state one row that varies as all the data do."
            )

    # --- starting points ---

    def begin(self, random: np.random.Generator, anew: bool) -> HiddenChain:
        """The current parameters, and guesses for missing ones; or guesses for all that is not fixed."""
        model = self.model
        tables: dict[Key, np.ndarray] = {}
        for key, shape in model._shapes.items():
            own = model._tables.get(key)
            if own is not None and (not anew or key[0] in self.fixed):
                tables[key] = own
                continue
            possible = model._masks.get(key, np.ones(shape, bool)) if own is None else own > 0
            flat = possible / possible.sum(axis=-1, keepdims=True)
            if key[0] == "initial":
                tables[key] = flat
            else:
                drawn = random.dirichlet(np.ones(shape[-1]), shape[:-1]) * possible
                tables[key] = 0.5 * drawn / drawn.sum(axis=-1, keepdims=True) + 0.5 * flat
        emission = model._emission
        if not emission.has_parameters or (anew and "emission" not in self.fixed):
            rows = self.observed.rows
            weights = emission.first_guess(rows, self.counts, emission.n_states, random)
            emission = emission.fitted(emission.gathered(rows, weights), self.prior_emission)
            self.check(emission, "at the start")
        return model._with(tables, emission)

    def run(
        self, starts: Any, max_iter: int, tol: float, random: np.random.Generator
    ) -> tuple[HiddenChain, FitReport]:
        """Run EM from each start, and keep the best."""
        if (
            isinstance(starts, bool)
            or not isinstance(starts, int | np.integer)
            or not 1 <= starts <= MOST_STARTS
        ):
            raise InvalidArgument(
                f"starts= is a whole number from 1 to {MOST_STARTS:,}, not {shown(starts)}."
            )
        seeds = random.spawn(int(starts))
        begin: list[Callable[[], HiddenChain]] = [
            lambda i=i: self.begin(seeds[i], i > 0)  # type: ignore[misc]
            for i in range(int(starts))
        ]
        best, reports, winner = climb(
            begin, self.expect, self.maximise, max_iter=max_iter, tol=tol, clock=self.clock, what="EM"
        )
        logs = tuple(report.log_likelihoods for report in reports)
        made = reports[winner].changed(n_parameters=self.free(best), n_rows=self.read.n_rows, starts=logs)
        return best, made

    def free(self, best: HiddenChain) -> int:
        """How many parameters were learned."""
        free = sum(best._free_of(key) for key in best._tables if key[0] not in self.fixed)
        if "emission" not in self.fixed:
            free += best._emission.n_free(np.ones(best._emission.n_states, bool))
        return free


def expected(fitting: HiddenLearning, steps: engine.Steps, rows: Rows) -> engine.Expected:
    """Expected counts; an error in the user's words where there is no path."""
    try:
        return engine.expected(steps, rows, fitting.weight, fitting.clock)
    except ImpossibleStep as error:
        place = fitting.read.place(error.row)
        raise ImpossibleEvidence(
            f"{place[0].upper()}{place[1:]}: what is observed here is impossible after what was observed "
            "before, under the parameters that learning starts from. Zeros stay zero: start from others, or "
            "leave out what is to be learned."
        ) from None


def shares(counts: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Counts divided by the sums of their rows; a row without counts stays as it is."""
    width = own.shape[-1]
    made = normalised(counts.reshape(-1, width), own.reshape(-1, width)).reshape(own.shape)
    made[made < _NEGLIGIBLE] = 0.0
    return made
