"""EM for input-output models: each part learns from its expected counts and their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from pgm.learning import Collapsed, EStep
from pgm.runtime.clock import start_clock

from . import hidden_learning
from .checks import weights_of
from .hidden_learning import expected, shares
from .inputs import WithInputs


class InputOutputLearning(hidden_learning.HiddenLearning):
    """One call of `fit`: the model, the data with their inputs, and what stays fixed."""

    def __init__(self, model: Any, read: WithInputs, weights: Any, fixed: Any) -> None:
        """Check what was asked for."""
        self.model, self.read, self.with_inputs = model, read, read
        self.weight = weights_of(weights, len(read))
        self.clock = start_clock()
        self.parts = ["initial", "transition", "emission"]
        self.fixed = self._fixed(fixed)
        self.given = "emission" in model._by_inputs
        if self.given:
            self.y = model._emission._read(read)
            model._check_inputs(read, self.y)
            self.usable = ~np.isnan(read.x).any(axis=1) & ~read.taken
        else:
            self.observed = model._emission.read(read)
            rows, code = self.observed.rows, self.observed.code
            heavy = np.repeat(self.weight, read.lengths)
            self.counts = np.bincount(code, heavy, len(rows)) if code.size else heavy

    def expect(self, now: Any) -> EStep[Any]:
        """Expected counts."""
        found = expected(self, now._steps(self.read), now._rows(self.read))
        log = float(self.weight @ found.logs)
        return EStep(log, log + sum(part._log_prior for part in now._by_inputs.values()), found)

    def maximise(self, now: Any, found: Any, iteration: int) -> Any:
        """Parts for which these counts are more likely; fixed ones stay."""
        k = now.n_states
        made = now.copy()
        made._tables, made._by_inputs = dict(now._tables), dict(now._by_inputs)
        if "initial" not in self.fixed:
            if "initial" in now._by_inputs:
                rows = self.with_inputs.beginning[0]
                made._by_inputs["initial"] = now._by_inputs["initial"]._fitted_counts(
                    rows, found.begun[:, None, :]
                )
            else:
                made._tables["initial", ""] = shares(found.begun[0], now._tables["initial", ""])
        if "transition" not in self.fixed:
            counts = found.counts.reshape(-1, k, k)
            if "transition" in now._by_inputs:
                rows = self.with_inputs.moving[0]
                made._by_inputs["transition"] = now._by_inputs["transition"]._fitted_counts(rows, counts)
            else:
                made._tables["transition", ""] = shares(counts[0], now._tables["transition", ""])
        if "emission" not in self.fixed:
            self._emit(made, found.seen, f"in iteration {iteration}")
        return made

    def _emit(self, made: Any, weights: np.ndarray, when: str) -> None:
        """Fit what is emitted to rows with these weights."""
        if not self.given:
            made._emission = made._emission.fitted(made._emission.gathered(self.observed.rows, weights))
            self.check(made._emission, when)
            return
        use = self.usable
        made._emission = made._emission._fitted_given(self.y[use], self.with_inputs.x[use], weights[use])
        made._by_inputs["emission"] = made._emission
        bad = getattr(made._emission, "_collapsed", lambda y: None)(self.y[use])
        if bad is not None:
            raise Collapsed(
                f"The noise of state {made.states[bad]!r} collapsed {when}: its data lie on a line. "
                "Use fewer states, fewer inputs, or other starts, by starts= and seed=."
            )

    def begin(self, random: np.random.Generator, anew: bool) -> Any:
        """The current parameters, and guesses for missing ones; or guesses for all that is not fixed."""
        model, k = self.model, self.model.n_states
        made: Any = model.copy()
        made._by_inputs = dict(made._by_inputs)
        made._tables = {}
        for key, shape in model._shapes.items():
            own = model._tables.get(key)
            if own is not None and (not anew or key[0] in self.fixed):
                made._tables[key] = own
                continue
            possible = np.ones(shape, bool) if own is None else own > 0
            drawn = random.dirichlet(np.ones(k), shape[:-1]) * possible
            flat = possible / possible.sum(axis=-1, keepdims=True)
            made._tables[key] = 0.5 * drawn / drawn.sum(axis=-1, keepdims=True) + 0.5 * flat
        for part, rows in (("initial", 1), ("transition", k)):
            gate: Any = model._by_inputs.get(part)  # type: ignore[attr-defined]
            if gate is None or (gate.has_parameters and (not anew or part in self.fixed)):
                continue
            inputs = self.with_inputs.beginning[0] if part == "initial" else self.with_inputs.moving[0]
            drawn = random.dirichlet(np.ones(k), (rows,)) + 1.0
            counts = np.broadcast_to(drawn, (len(inputs), rows, k))
            made._by_inputs[part] = gate._fitted_counts(inputs, np.ascontiguousarray(counts))
        emission = model._emission
        if not emission.has_parameters or (anew and "emission" not in self.fixed):
            if self.given:
                weights = np.zeros((self.read.n_rows, k))
                use = self.usable
                weights[use] = emission._guess(self.y[use], self.with_inputs.x[use], k, random)
            else:
                weights = emission.first_guess(self.observed.rows, self.counts, k, random)
            self._emit(made, weights, "at the start")
        return made

    def free(self, best: Any) -> int:
        """How many parameters were learned."""
        kept = {part: best._by_inputs[part]._n_free for part in self.fixed if part in best._by_inputs}
        kept |= {
            part: int((best._tables[part, ""] > 0).sum()) - best._tables[part, ""][..., 0].size
            for part in self.fixed
            if (part, "") in best._tables
        }
        if "emission" in self.fixed and not self.given:
            kept["emission"] = best._emission.n_free(np.ones(best.n_states, bool))
        return int(best.n_parameters - sum(kept.values()))
