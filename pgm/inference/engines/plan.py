"""What a question will cost, before anything large is allocated; what `net.plan` prints is what will run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.config import current
from pgm.errors import TooLarge, listed
from pgm.inference.engines import remedies
from pgm.inference.engines.conditioning.cutsets import choose
from pgm.inference.engines.options import Engine
from pgm.inference.engines.search import Search
from pgm.inference.program.reduction import Case
from pgm.inference.trees import Shape
from pgm.inference.trees.needs import (
    MOST_STEPS,
    RESULT,
    Needs,
    Question,
    power_of_two,
    time_of,
)
from pgm.printing import html_facts, text_facts
from pgm.runtime.clock import Clock
from pgm.runtime.room import size_of
from pgm.runtime.running import seconds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CLIQUES = 100  # whose sizes a plan lists
OWN_TREE = "built for the reduced question; kept for others like it"
_SEARCHED = "a search, whose cost shows only as it runs; the sizes are those of a tree"


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is answered: what is left after reduction, in which order, at what cost.

    Sizes are those of the clique tree; `bytes` is the peak of this question, `bytes_inward` that of one that
    needs a single sweep (one target, P(evidence)), `bytes_all` that of all marginals. `bytes_in_doubles` is
    the peak if no product falls below the smallest double: that is tried first.
    """

    question: str
    engine: str
    exact: bool
    n_variables: int  # of the model, auxiliary ones included
    n_known: int  # with only one possible state: observed, or implied by the evidence
    n_left: int  # variables in the tree
    order: tuple[str, ...]  # the elimination order
    heuristic: str
    tree: str  # whether other questions share the tree, and why
    width: int  # variables in the largest clique, minus one
    largest: tuple[str, ...]  # the names in the largest clique
    log2_largest: float  # of the largest clique's entries
    log2_entries: float  # of the entries of all cliques
    bytes_inward: float
    bytes_all: float
    bytes: float
    bytes_in_doubles: float
    operations: float
    results: float  # entries of the answer
    memory_limit: int
    complete: bool  # False: too large to lay out; sizes are those of the best elimination order found
    cutset: tuple[str, ...] = ()  # the variables conditioned on to make each run as small as stated
    runs: float = 1.0
    offer: str = ""  # how the question could be made to fit
    offer_seconds: float = math.inf  # roughly how long that takes
    zeros: float = 0.0  # if it does not fit: the share of the tables over several variables that have zeros
    asks: Question | None = None  # the kind of question, for naming other engines that answer it
    continuous: str = ""  # what is done beforehand with continuous variables
    later: str = ""  # what runs, if its sizes are not those above and show only at run time
    chosen: str = ""  # which engines were chosen, and why
    log2_cliques: tuple[float, ...] = ()  # of the largest cliques' entries, the largest first

    @property
    def entries(self) -> float:
        """Entries of all cliques; infinite if the count exceeds a double."""
        return power_of_two(self.log2_entries)

    @property
    def largest_entries(self) -> float:
        """Entries of the largest clique."""
        return power_of_two(self.log2_largest)

    @property
    def seconds(self) -> float:
        """A rough estimate of the time."""
        return seconds_of(self.operations)

    @property
    def fits(self) -> bool:
        """Whether the question fits the current memory limit."""
        if self.later:
            return True
        return bool(
            self.complete and self.bytes_in_doubles <= self.memory_limit and self.operations <= MOST_STEPS
        )

    @property
    def searchable(self) -> bool:
        """Whether no tree fits, and there are enough zeros for a search to exploit."""
        return has_turn(Search, self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain Python objects, with `fits` and `seconds`."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "asks"}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return {**plain, "fits": self.fits, "seconds": self.seconds}

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("question", self.question),
            ("engine", self.engine if self.engine == "exact" else f"{self.engine} ({self._kind()})"),
            (
                "variables",
                f"{self.n_variables:,}: {self.n_known:,} known, {self.n_left:,} left after reduction",
            ),
            ("tree", self.tree),
            ("order", f"{self.heuristic}; {listed(self.order)}" if self.order else self.heuristic),
            ("largest table", f"{_count(self.log2_largest)} entries{self._over()}"),
            (
                "all tables",
                f"{_count(self.log2_entries)} entries" + (f", width {self.width}" if self.complete else ""),
            ),
        ]
        if self.complete:
            lines += [
                (
                    "memory",
                    f"{size_of(self.bytes)} of {size_of(self.memory_limit)} allowed"
                    + (
                        f", {size_of(self.bytes_in_doubles)} if doubles suffice"
                        if self._may_be_wide()
                        else ""
                    )
                    + f" (one sweep {size_of(self.bytes_inward)}, all marginals {size_of(self.bytes_all)})",
                ),
                ("operations", f"{_count(math.log2(max(1.0, self.operations)))}, {time_of(self.seconds)}"),
            ]
        if self.continuous:
            lines.append(("continuous", self.continuous))
        if self.chosen:
            lines.append(("chosen", self.chosen))
        if self.later:
            lines.append(("what runs", self.later))
        if self.cutset:
            lines.append(("conditioned", f"on {listed(self.cutset)}: {_count(math.log2(self.runs))} runs"))
        if self.offer:
            lines.append(("it would fit", self.offer))
        return lines

    def _kind(self) -> str:
        if self.exact:
            return "exact"
        return "not exact: an interval" if self.engine == "bounds" else "not exact"

    def _may_be_wide(self) -> bool:
        return self.bytes_in_doubles < self.bytes

    def _over(self) -> str:
        return f" over {len(self.largest)} variables: {listed(self.largest)}" if self.largest else ""

    def __repr__(self) -> str:
        """One line for each fact."""
        return text_facts(self._lines())

    def _repr_html_(self) -> str:
        return html_facts(self._lines())

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the sizes of the largest tables next to the memory limit; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; says what is shown if left out.
        """
        from pgm import plot

        return plot.plan(self, ax, figsize=figsize, title=title)

    def check(self) -> None:
        """Raise `TooLarge` if the question does not fit."""
        if self.fits:
            return
        if self.complete and self.results * RESULT > 0.5 * self.memory_limit:
            raise TooLarge(
                f"The answer alone has {_count(math.log2(self.results))} values and needs "
                f"{size_of(self.bytes)}; {size_of(self.memory_limit)} are allowed. Ask for less at once."
                f"\n\n{self!r}",
                self,
            )
        if not self.complete:
            what = "far more memory than is available"
        elif self.bytes_in_doubles > self.memory_limit:
            what = f"{size_of(self.bytes_in_doubles)} of memory, and {size_of(self.memory_limit)} are allowed"
        else:
            what = f"{_count(math.log2(self.operations))} operations, {time_of(self.seconds)}"
        raise TooLarge(
            f"An exact answer needs {what}: in the best elimination order found, the largest table has "
            f"{_count(self.log2_largest)} entries{self._over()}. Observe more, ask for fewer targets at "
            "once, or allow more with pgm.set_config(memory_limit=...)."
            + (f" It would fit with {self.offer}." if self.offer else "")
            + (
                f' {100 * self.zeros:.0f} % of its tables have zeros: engine="search" may do it, and is '
                "tried under pgm.set_config(time_limit=...)."
                if self.searchable
                else ""
            )
            + f"{remedies(self.asks)}\n\n{self!r}",
            self,
        )


def has_turn(other: type[Engine], plan: Plan) -> bool:
    """Whether this engine is next: no tree fits, and there are enough zeros for it."""
    turn = other.turns.get(plan.asks) if plan.asks else None
    return turn is not None and plan.zeros >= turn.zeros


def searched(plan: Plan, clock: Clock) -> Plan:
    """The plan of the same question if a search within the time limit answers it."""
    return replace(
        plan,
        engine="search",
        later=_SEARCHED,
        chosen=f"a search, because no tree fits and {100 * plan.zeros:.0f} % of the tables have zeros; it "
        f"stops at the time limit of {clock.limit:g} s",
    )


def make_plan(case: Case, shape: Shape, needs: Needs, names: Sequence[str], tree: str = OWN_TREE) -> Plan:
    """The plan for a tree of this shape, with the user's names for the variables."""
    r, found = case.reduced, shape.triangulation

    def named(positions: np.ndarray) -> tuple[str, ...]:
        return real(r.variables[positions].tolist())

    def real(variables: Sequence[int]) -> tuple[str, ...]:
        return case.program.called(variables, names)

    largest, width, sizes = np.empty(0, np.int32), 0, np.empty(0)
    if shape.complete and len(found.parent):
        before = np.concatenate([[0.0], np.cumsum(np.log2(r.cards.astype(np.float64))[found.clique_vars])])
        sizes = before[found.clique_ptr[1:]] - before[found.clique_ptr[:-1]]
        top = int(np.argmax(sizes))
        largest = found.clique_vars[found.clique_ptr[top] : found.clique_ptr[top + 1]]
        width = int(np.diff(found.clique_ptr).max()) - 1
    inward, both, needed = needs.bytes(shape)
    offer, offer_seconds, zeros = "", math.inf, 0.0
    if not needs.fits(shape):
        zeros = _with_zeros(case)
    if not needs.fits(shape) and needs.engine == "exact" and not needs.wide and needs.sweeps != "kept":
        found_cutset = choose(case, shape, needs, float(current().memory_limit))
        if found_cutset is not None and found_cutset.operations <= MOST_STEPS:
            offer_seconds = seconds_of(found_cutset.operations)
            offer = (
                f'engine="conditioned": {_count(math.log2(found_cutset.runs))} runs, one for each state of '
                f"{listed(real(found_cutset.variables.tolist()))}, in about {size_of(found_cutset.bytes)} "
                f"and {time_of(offer_seconds).removeprefix('about ')}"
            )
    return Plan(
        question=needs.question,
        engine=needs.engine,
        exact=True,
        n_variables=case.program.n,
        n_known=int((case.codes >= 0).sum()),
        n_left=int(r.cards.size),
        order=named(found.order) if shape.complete else (),
        heuristic=found.heuristic,
        tree=tree,
        width=width,
        largest=named(largest),
        log2_largest=shape.log2_largest,
        log2_entries=shape.log2_total,
        bytes_inward=inward,
        bytes_all=both,
        bytes=needed,
        bytes_in_doubles=needs.bytes_in_doubles(shape),
        operations=needs.steps(shape),
        results=needs.results,
        memory_limit=current().memory_limit,
        complete=shape.complete,
        cutset=real(needs.cutset),
        runs=needs.runs,
        offer=offer,
        offer_seconds=offer_seconds,
        zeros=zeros,
        later=_SEARCHED if needs.engine == "search" else "",
        asks=needs.asks,
        log2_cliques=tuple(np.sort(sizes)[::-1][:_CLIQUES].tolist()),
    )


def _with_zeros(case: Case) -> float:
    """The share of the tables over several variables that have zeros."""
    r = case.reduced
    several = np.diff(r.scope_at) > 1
    if not several.any():
        return 0.0
    least = np.minimum.reduceat(case.wide_tables()[0], r.table_at[:-1])
    return float((least[several] == 0.0).mean())


def _count(log2: float) -> str:
    """The count 2**log2, formatted for people."""
    if log2 < 20:
        return f"{2.0**log2:,.0f}" if log2 >= 0 else "0"
    if log2 < 200:
        return f"{2.0**log2:.2g}"
    return f"10^{log2 * math.log10(2.0):,.0f}" if math.isfinite(log2) else "uncountably many"
