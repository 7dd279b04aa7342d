"""A query that is compiled once and asked many times, on a single tree if one serves every call."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidEvidence, listed
from pgm.evidence import Observed, observe
from pgm.inference.asking import session
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.engines.table_sums import entries
from pgm.inference.program.reduction import Case
from pgm.inference.trees import Shape
from pgm.inference.trees.needs import Needs
from pgm.inference.trees.shared_trees import sliced
from pgm.printing import html_text, joined
from pgm.results import Distribution, exact_report
from pgm.runtime.clock import WRAPPING, Clock
from pgm.runtime.running import Impossible, Narrow

if TYPE_CHECKING:
    from pgm.inference.asking.questions import Questions


class CompiledQuery:
    """P(targets | evidence on some names), with the tables as compiled; call it with evidence."""

    def __init__(
        self,
        model: Questions,
        compiled: ModelSnapshot,
        targets: tuple[str, ...],
        given: tuple[str, ...],
        clock: Clock,
    ) -> None:
        """Build the tree that every call runs on, if a single tree can serve this query."""
        self.targets = targets
        self.given = tuple(dict.fromkeys(given))
        self._model = model.copy()  # for pickling: the query travels with the current tables
        self._compiled = compiled
        if compiled.gaussians is not None:  # its trees are kept, and each call is a query
            self._model._compile()
            return
        positions = [compiled.position[name] for name in targets]
        needs = Needs(f"P({listed(targets)})", results=entries(compiled.program.arrays.cards, positions))
        self._needs = lambda: needs
        codes = dict.fromkeys(sorted(compiled.position[name] for name in given), 0)
        nothing = observe(compiled.by_name, None)

        def lay_out() -> None:  # the states do not matter yet
            sliced(
                *(compiled.program, compiled.trees, codes, tuple(positions), self._needs, clock, _ignore),
                always=True,
            )

        # If these particular states are impossible, only calls with these states fail.
        with contextlib.suppress(Impossible):
            session.answered(compiled, nothing, clock, lay_out, explain=not compiled.program.possible)

    def __call__(self, given: Mapping[str, Any] | None = None) -> Distribution:
        """Return P(targets | given)."""
        compiled = self._compiled
        observed = observe(compiled.by_name, given)
        for name in observed.given:
            if name not in self.given:
                raise InvalidEvidence(
                    f"{name!r} is not among the names that this query was compiled for "
                    f"({listed(self.given)}); compile it for all of them: compile(target, given=[...])."
                )
        if compiled.gaussians is not None:
            return self._model.query(self.targets, given)
        targets = [compiled.position[name] for name in self.targets]
        _, clock = session.begin("auto", "query")

        def answer() -> Distribution:
            values = self._on_the_tree(observed, targets, clock)
            if values is None:
                values = make_posterior(compiled, observed, clock).joint(targets)
            report = exact_report("exact", clock.profile, observed.given)
            found = Distribution(tuple([compiled.variables[t] for t in targets]), values, report)
            clock.lap(WRAPPING)
            return found

        return session.answered(compiled, observed, clock, answer)

    def _on_the_tree(self, observed: Observed, targets: list[int], clock: Clock) -> np.ndarray | None:
        """The answer of the tree for evidence on all the names; None if that does not apply."""
        compiled = self._compiled
        if len(observed.hard) < len(self.given):
            return None
        hard = dict(sorted((compiled.position[name], code) for name, code in observed.hard.items()))
        tree = sliced(
            *(compiled.program, compiled.trees, hard, tuple(targets), self._needs, clock, _ignore),
            always=True,
        )
        if tree is None:
            return None
        try:
            codes = np.array(list(hard.values()), dtype=np.int64)
            values, _ = tree.answer(compiled.program, codes, clock)
        except Narrow:
            return None
        return np.asarray(values.reshape([int(compiled.program.arrays.cards[t]) for t in targets]))

    def __repr__(self) -> str:
        """The query in the usual notation."""
        targets, given = joined(self.targets, len(self.targets)), joined(self.given, len(self.given), 60)
        return f"P({targets} | {given}), compiled" if given else f"P({targets}), compiled"

    def _repr_html_(self) -> str:
        return html_text(repr(self))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the model and the query; the copy compiles it again."""
        return _recompiled, (self._model, self.targets, self.given)


def _ignore(_case: Case, _shape: Shape) -> None:
    """Ignore a tree that does not fit: the query that follows reports it."""


def _recompiled(model: Questions, targets: tuple[str, ...], given: tuple[str, ...]) -> CompiledQuery:
    return model.compile(targets, given)
