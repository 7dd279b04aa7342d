"""Dynamic Bayesian networks: variables that repeat step by step, with arrows from earlier steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from pgm.calls import guard_classes
from pgm.cpds import CPD
from pgm.cpds.base import printed
from pgm.cpds.table_input import check_cells
from pgm.errors import (
    ImpossibleEvidence,
    InvalidArgument,
    InvalidEvidence,
    InvalidStructure,
    UnknownVariable,
    listed,
    shown,
)
from pgm.evidence import names as names_of
from pgm.inference.engines import interface
from pgm.printing import html_table, joined, text_table
from pgm.randomness import draw_count, generator
from pgm.results import FitReport, NetworkBeliefs, NetworkCourse, PerSequence, SampledSteps
from pgm.results.network_steps import INTERFACE
from pgm.runtime.clock import start_clock
from pgm.variables import Variable

from ..renaming import renamed
from . import network_engines, network_learning, network_sampling, network_slices, network_unrolled
from .checks import check_by, scores_by
from .network_rows import Read, check_noise, read
from .network_slices import Node, back_of, built, made, name_of
from .network_stream import NetworkStream

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pgm.models import BayesianNetwork

_Answer = TypeVar("_Answer")


class DynamicBayesianNetwork:
    """A network whose variables repeat at each step, with parents in the same step and in earlier ones.

    Args:
        name: of the network, in print and in files.

    Parents are written "rain" for the same step, "rain[-1]" for the step before, "rain[-2]" and so on.
    Evidence is {name: list of values}, one for each step; several sequences are a list of such dicts, a
    dict or frame with `lengths=`, or a frame with `sequence="column"`. None and NaN were not observed; a
    value may also be pgm.OneOf, pgm.Not or pgm.Likelihood.

    >>> dbn = DynamicBayesianNetwork()
    >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
    >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
    >>> dbn.filter({"wet": [True, True, False]})
    step  rain=True
    0      0.857143
    1      0.938389
    2      0.183520
    filtered; log-likelihood -2.382408
    """

    name: str
    _nodes: dict[str, Node]
    fit_report: FitReport | None
    _layouts: dict[bool, interface.SliceLayout]

    def __init__(self, name: str = "") -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        self.name, self._nodes, self._layouts, self.fit_report = name, {}, {}, None

    # --- properties ---

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables by name, in the order in which they were added."""
        return {name: node.variable for name, node in self._nodes.items()}

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all variables."""
        return tuple(self._nodes)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows into a step as pairs (parent, child): ("rain[-1]", "rain")."""
        return tuple([(p, node.name) for node in self._nodes.values() for p in node.parents])

    @property
    def lag(self) -> int:
        """How many steps back the network looks."""
        return max((node.lag for node in self._nodes.values()), default=0)

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, those of earlier steps written "rain[-1]".

        Args:
            name: a variable of the network.

        Raises:
            UnknownVariable: there is no such variable.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.parents("rain")
        ('rain[-1]',)
        """
        return self._known(name).parents

    def children(self, name: str) -> tuple[str, ...]:
        """Return the variables that depend on one, in the same step or in later ones.

        Args:
            name: a variable of the network.

        Raises:
            UnknownVariable: there is no such variable.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.children("rain")
        ('rain',)
        """
        known = self._known(name).name
        return tuple([n.name for n in self._nodes.values() if known in [back_of(p)[0] for p in n.parents]])

    def cpd(self, name: str, step: int | None = None) -> CPD:
        """Return P(name | parents) of later steps; or that of one of the first steps, which may differ.

        Args:
            name: a variable of the network.
            step: a step; 0 is the first.

        Raises:
            UnknownVariable: there is no such variable.
            InvalidArgument: the step is not a whole number of at least 0.
            IncompleteModel: a parent is still missing.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> print(dbn.cpd("rain"))
        P(rain | rain[-1])
        rain[-1]  False  True
        False       0.8   0.2
        True        0.3   0.7
        >>> dbn.cpd("rain", step=0).to_dict()
        {False: 0.6, True: 0.4}
        """
        node = self._known(name)
        if step is not None and (
            isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0
        ):
            raise InvalidArgument(f"step= is a whole number of at least 0, not {shown(step)}.")
        if not node.cpds:
            network_slices.check_whole({name: node})
        return node.cpds[-1 if step is None else min(int(step), len(node.cpds) - 1)]

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, those of the first steps included."""
        network_slices.check_whole(self._nodes)
        return sum(cpd.n_parameters for node in self._nodes.values() for cpd in node.cpds)

    # --- edits: each succeeds or changes nothing ---

    def add(
        self,
        name: str,
        table: object,
        *,
        parents: str | Iterable[str] = (),
        initial: object = None,
        states: Any = None,
        static: bool = False,
        normalize: bool = False,
    ) -> None:
        """Add a variable of every step with its distribution.

        Args:
            name: the new variable.
            table: as for `BayesianNetwork.add`: a float, list, dict, array or frame, or a distribution such
                as pgm.NoisyOr, pgm.TreeCPD, pgm.LinearGaussian.
            parents: names in the order that the table uses: "rain" of the same step, which is there already,
                or "rain[-1]" of an earlier one, which may be added later.
            initial: if it looks back, its distribution in the first step, which has nothing before it: given
                the parents of the same step. If it looks k steps back, a list of k distributions: of step 0,
                of step 1, ..., each given those parents that exist there, in their order.
            states: the states in order; if left out, as for `BayesianNetwork.add`.
            static: one variable for all steps, such as a parameter or a type; its parents are static too.
            normalize: divide each row of a table by its sum.

        Raises:
            InvalidTable: values of the wrong shape, negative, or a row that does not sum to one; `initial` is
                missing, or there is no use for it.
            InvalidVariable: an invalid name or invalid states.
            UnknownVariable: a parent of the same step that the network does not have.
            UnknownState: a row for a state that its parent does not have.
            InvalidStructure: there is such a variable already, a cycle, or a parent that lies in the future.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("mood", {("good", "good"): [0.1, 0.9], ...: [0.5, 0.5]}, parents=["mood[-1]", "mood[-2]"],
        ...         states=["bad", "good"], initial=[[0.3, 0.7], {"good": [0.2, 0.8], "bad": [0.6, 0.4]}])
        >>> dbn.lag
        2
        """
        node = name_of(name)
        if node in self._nodes:
            raise InvalidStructure(
                f"There is a variable {node!r} already: `set` gives it another distribution."
            )
        if not isinstance(static, bool):
            raise InvalidArgument(f"static= is True or False, not {shown(static)}.")
        new = made(node, table, initial, parents, states, static, normalize, self._nodes)
        self._take({**self._nodes, node: new})

    def set(
        self, name: str, table: object = None, *, initial: object = None, normalize: bool = False
    ) -> None:
        """Give a variable another distribution, or another one for the first steps; the rest stays.

        Args:
            name: a variable of the network.
            table: as for `add`; left out: it stays.
            initial: as for `add`; left out: it stays.
            normalize: divide each row of a table by its sum.

        Raises:
            InvalidTable: as for `add`.
            InvalidArgument: there is neither a table nor initial.
            InvalidStructure: the new distribution has other parents than the variable.
            UnknownVariable: there is no such variable.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.set("rain", initial=0.9)
        >>> dbn.cpd("rain", step=0).to_dict()
        {False: 0.1, True: 0.9}
        """
        node = self._known(name)
        if table is None and initial is None:
            raise InvalidArgument(f"{name!r}: `set` takes a table, or initial=, or both.")
        new = network_slices.changed(node, table, initial, normalize, self._nodes)
        self._take({**self._nodes, node.name: new})

    def remove(self, name: str) -> None:
        """Remove a variable on which no other depends.

        Args:
            name: a variable of the network.

        Raises:
            UnknownVariable: there is no such variable.
            InvalidStructure: others depend on it: remove them first.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.remove("rain")
        >>> dbn.nodes
        ()
        """
        node = self._known(name)
        if others := [child for child in self.children(name) if child != node.name]:
            raise InvalidStructure(f"{name!r} has the children {listed(others)}: remove them first.")
        self._take({key: value for key, value in self._nodes.items() if key != node.name})

    def _take(self, nodes: dict[str, Node]) -> None:
        waiting = [node for node in nodes.values() if not node.cpds]
        self._nodes = nodes | {node.name: built(node, nodes) for node in waiting}
        self._layouts = {}

    def _known(self, name: Any) -> Node:
        if not isinstance(name, str) or name not in self._nodes:
            raise UnknownVariable(name, self._nodes)
        return self._nodes[name]

    def copy(self) -> Self:
        """Return an independent copy."""
        made = type(self)(self.name)
        made._nodes, made.fit_report = dict(self._nodes), self.fit_report
        return made

    __copy__ = copy

    def rename(self, new: Mapping[str, str]) -> Self:
        """Return the same network with some variables renamed.

        Args:
            new: {old name: new name}, of some variables or all.

        Raises:
            UnknownVariable: an old name that the network does not have.
            InvalidStructure, InvalidVariable: new names that are invalid, or taken.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.rename({"rain": "snow"}).edges
        (('snow[-1]', 'snow'),)
        """
        called = renamed(self._nodes, new)
        made = type(self)(self.name)
        made._nodes = network_slices.renamed(self._nodes, {key: name_of(to) for key, to in called.items()})
        return made

    def __eq__(self, other: object) -> bool:
        """Tell whether variables, arrows and distributions are the same, whatever their order."""
        if not isinstance(other, DynamicBayesianNetwork):
            return NotImplemented
        return network_slices.alike(self._nodes, other._nodes)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "_nodes": self._nodes, "fit_report": self.fit_report}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _layouts={})

    # --- questions ---

    def filter(
        self,
        data: Any,
        *,
        targets: Any = None,
        engine: Any = "auto",
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return P(variable | what was observed until then) for each step.

        Args:
            data: a sequence, or several; see the class.
            targets: names; if left out, all variables with states that are not observed in every step.
            engine: "interface", which is exact and what "auto" takes; for an interface that is too large,
                or unobserved continuous variables, "boyen-koller", "particles", or an object of pgm.filters.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> dbn.filter({"wet": [True, None]}).marginal("rain").values[:, 1].round(6).tolist()
        [0.857143, 0.628571]
        """
        how = network_engines.engine_of(engine)
        found, wanted = self._read(data, lengths, sequence, targets, fits=how is None)
        if how is not None:
            return network_engines.filtered(self, found, wanted, how)
        layout, clock = self._layout(), start_clock()
        values, scores = self._answered(found, lambda: interface.filtered(layout, found.rows, wanted, clock))
        return self._beliefs(found, wanted, values, scores, "filtered")

    def smooth(
        self,
        data: Any,
        *,
        lag: int | None = None,
        targets: Any = None,
        sparing: bool = False,
        lengths: Any = None,
        sequence: Any = None,
    ) -> Any:
        """Return P(variable | the whole sequence) for each step.

        Args:
            data: a sequence, or several; see the class.
            lag: condition only on what was observed up to this many steps later.
            targets: names; if left out, all variables with states that are not observed in every step.
            sparing: keep the messages of about sqrt(T) of the T steps, and compute the rest a second time.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> dbn.smooth({"wet": [True, True, False]}).marginal("rain").values[:, 1].round(6).tolist()
        [0.921757, 0.874968, 0.18352]
        """
        if lag is not None and (isinstance(lag, bool) or not isinstance(lag, int | np.integer) or lag < 0):
            raise InvalidArgument(f"lag= is a whole number of steps, not {shown(lag)}.")
        if lag is not None and sparing:
            raise InvalidArgument("With lag= no messages are kept anyway: leave out sparing=.")
        found, wanted = self._read(data, lengths, sequence, targets)
        layout, clock = self._layout(), start_clock()
        values, scores = self._answered(
            found,
            lambda: interface.smoothed(
                layout,
                found.rows,
                wanted,
                clock,
                lag=None if lag is None else min(int(lag), found.rows.n),
                sparing=bool(sparing),
            ),
        )
        about = "smoothed" if lag is None else f"smoothed with a lag of {lag}"
        return self._beliefs(found, wanted, values, scores, about)

    def forecast(
        self, data: Any, steps: int = 1, *, targets: Any = None, lengths: Any = None, sequence: Any = None
    ) -> Any:
        """Return P(variable | a sequence) for the steps that follow it.

        Args:
            data: a sequence, or several; see the class.
            steps: how many steps to look ahead.
            targets: names; if left out, all variables with states.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.forecast({"rain": [True]}, steps=2).marginal("rain").values[:, 1].round(6).tolist()
        [0.7, 0.55]
        """
        steps = _count(steps, "steps=")
        asked = self._with_states() if targets is None else targets
        check_cells((steps, len(self), 8), "The forecast", "look fewer steps ahead")
        found, wanted = self._read(data, lengths, sequence, asked)
        layout, clock = self._layout(), start_clock()
        scores = self._answered(found, lambda: interface.scores(layout, found.rows, clock))
        last = self._answered(found, lambda: interface.frontiers(layout, found.rows, clock))
        one = []
        for i, (a, b) in enumerate(pairwise(found.sequences.starts.tolist())):
            ahead = self._nothing(steps, b - a)
            values, _, _ = self._answered(
                found,
                lambda ahead=ahead, i=i: interface.continued(layout, ahead, wanted, last[i], clock),  # type: ignore[misc]
            )
            one.append(NetworkBeliefs(self._some(wanted), values, scores[a:b].copy(), "forecast", b - a))
        return one[0] if found.sequences.lone else PerSequence(one, found.sequences.ids, INTERFACE)

    def _nothing(self, steps: int, before: int) -> interface.ObservedRows:
        """Steps after a sequence, in which nothing is observed."""
        template = self._layout().template
        kind = np.minimum(np.arange(before, before + steps), template.n_kinds - 1).astype(np.int64)
        nothing = np.zeros(steps, np.uint8)
        gaps = np.full(steps + self.lag, np.nan)
        numbers = {v: gaps for v, card in enumerate(template.cards) if card == 0}
        return interface.ObservedRows(kind, nothing, nothing, {}, {}, numbers, history=self.lag)

    def score(self, data: Any, *, by: str | None = None, lengths: Any = None, sequence: Any = None) -> Any:
        """Return log P of what was observed; a density where continuous values are observed.

        Args:
            data: a sequence, or several; see the class.
            by: "sequence" for an array with one entry for each, "step" for log P of each step given those
                before it; the total if left out.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> round(dbn.score({"rain": [True, True, None]}), 6)
        -1.272966
        """
        check_by(by)
        found, _ = self._read(data, lengths, sequence, ())
        layout, clock = self._layout(), start_clock()
        shares = self._answered(found, lambda: interface.scores(layout, found.rows, clock))
        data = found.sequences
        return scores_by(by, shares, data.starts, data.lone, INTERFACE)

    def log_likelihood(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> np.ndarray:
        """Return log P of each sequence, as an array.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.log_likelihood([{"rain": [True, True]}, {"rain": [False]}]).round(6).tolist()
        [-1.272966, -0.510826]
        """
        found: np.ndarray = self.score(data, by="sequence", lengths=lengths, sequence=sequence)
        return found

    def map(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Any:
        """Return the most probable course: a state for each variable in each step.

        Continuous variables that were not observed are integrated out.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> best = dbn.map({"wet": [True, True, False]})
        >>> best.path("rain").path, round(best.probability, 6)
        ((True, True, False), 0.663244)
        """
        found, _ = self._read(data, lengths, sequence, ())
        layout, clock = self._layout(best=True), start_clock()
        codes, joints = self._answered(found, lambda: interface.most_probable(layout, found.rows, clock))
        kept = [v for v, card in enumerate(layout.template.cards) if card]
        starts = found.sequences.starts.tolist()

        @cache
        def shares() -> np.ndarray:
            return interface.scores(self._layout(), found.rows, start_clock())

        def likely(i: int) -> Callable[[], float]:
            return lambda: float(shares()[starts[i] : starts[i + 1]].sum())

        each = [
            NetworkCourse(self._some(kept), codes[a:b, kept], float(joints[i]), likely(i))
            for i, (a, b) in enumerate(pairwise(starts))
        ]
        return each[0] if found.sequences.lone else PerSequence(each, found.sequences.ids, INTERFACE)

    def sample(
        self,
        n: int,
        *,
        sequences: int | None = None,
        given: Any = None,
        seed: int | np.random.Generator | None = None,
    ) -> Any:
        """Draw all variables, step by step; or, given a sequence, courses from their posterior.

        Args:
            n: how many steps; with `given`, how many courses.
            sequences: how many sequences, each of n steps; one by itself if left out.
            given: a sequence: what was not observed is drawn, jointly in all steps.
            seed: a whole number, or a numpy Generator.

        Raises:
            InvalidArgument: n is not a whole number of at least 1, the seed is invalid, or what was observed
                depends on a continuous variable that was not.
            ImpossibleEvidence: what is given has probability zero; the message names the step.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.sample(5, seed=0)["rain"].tolist()
        [True, False, False, False, True]
        >>> dbn.add("wet", {True: 1.0, False: 0.1}, parents=["rain"])
        >>> [one["rain"].tolist() for one in dbn.sample(2, given={"wet": [False, True, None]}, seed=2)]
        [[False, False, False], [False, True, True]]
        """
        network_slices.check_whole(self._nodes)
        random = generator(seed)
        n, many = draw_count(n), 1 if sequences is None else draw_count(sequences)
        if n < 1 or many < 1:
            raise InvalidArgument("At least one sequence of at least one step is drawn.")
        if given is not None:
            if sequences is not None:
                raise InvalidArgument("With given=, n is how many courses are drawn: leave out sequences=.")
            return self._drawn_given(n, given, random)
        columns = network_sampling.draw(self._nodes, n, many, random)
        drawn = [
            SampledSteps(self.nodes, [column[i * n : (i + 1) * n] for column in columns]) for i in range(many)
        ]
        return drawn[0] if sequences is None else PerSequence(drawn, None, INTERFACE)

    def _drawn_given(self, many: int, given: Any, random: np.random.Generator) -> PerSequence[SampledSteps]:
        found, _ = self._read(given, None, None, ())
        if not found.sequences.lone:
            raise InvalidArgument("given= is one sequence.")
        check_cells((found.rows.n, many, len(self), 8), "This many draws", "draw fewer at a time")
        layout, clock = self._layout(), start_clock()
        codes = self._answered(found, lambda: interface.drawn_given(layout, found.rows, many, random, clock))
        columns = network_sampling.completed(self._nodes, codes, found.rows.values, random)
        each = [SampledSteps(self.nodes, [column[i] for column in columns]) for i in range(many)]
        return PerSequence(each, None, INTERFACE)

    def plan(self) -> interface.InterfacePlan:
        """Return how large the interface between two steps is, and what a step costs; allocates nothing.

        Raises:
            IncompleteModel: a variable or a distribution is missing.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.plan().entries
        2
        """
        return interface.plan_of(self._laid_out(best=False), self.nodes)

    def stream(self) -> NetworkStream:
        """Return a filter that takes observations as they come.

        Raises:
            IncompleteModel: a variable or a distribution is missing.
            TooLarge: what one step hands to the next does not fit the memory limit.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> stream = dbn.stream()
        >>> round(stream.push({"rain": True}).log_likelihood, 6), len(stream)
        (-0.916291, 1)
        """
        return NetworkStream(self)

    def query(self, targets: Any, data: Any = None, *, steps: int | None = None, engine: Any = "auto") -> Any:
        """Return P(variables of certain steps | a sequence), jointly: asks the unrolled network.

        Args:
            targets: names with their steps, "rain[2]"; one or several, also of later steps.
            data: a sequence; see the class.
            steps: how many steps to unroll; as far as the data and the targets reach if left out.
            engine: as for `BayesianNetwork.query`.

        Raises:
            UnknownVariable: a target that is not a variable of a step.
            InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read.
            ImpossibleEvidence: what is observed has probability zero.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> both = dbn.query(["rain[0]", "rain[2]"], {"wet": [True, True, False]})
        >>> round(both[True, False], 6)
        0.747466
        """
        known = network_unrolled.evidence(self._nodes, data)
        reach = [network_unrolled.step_of(name, self._nodes) for name in (*names_of(targets), *known)]
        count = max(reach, default=0) + 1 if steps is None else _count(steps, "steps=")
        return self.unroll(count).query(targets, known, engine=engine)

    # --- learning ---

    def fit(
        self,
        data: Any,
        *,
        lengths: Any = None,
        sequence: Any = None,
        weights: Any = None,
        prior: Any = None,
        estimate: str = "mean",
        fixed: Any = None,
        starts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        seed: int | np.random.Generator | None = None,
    ) -> Self:
        """Learn the parameters of all distributions from sequences; returns the network itself.

        Steps share the parameters of a distribution. Variables with gaps, or never observed, are learned by
        EM, from the current parameters; complete data are counted once. Zeros of tables stay zero, and rows
        that are never used keep their values. `fit_report` has the details.

        Args:
            data: a sequence, or several; see the class.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.
            weights: how much each sequence counts; 1 if left out.
            prior: as for `BayesianNetwork.fit`: "laplace", an object from pgm.priors, {name: prior}, ...
            estimate: with a prior, the "mean" of the posterior or its "mode".
            fixed: variables that stay as they are; "rain[0]" is the distribution of the first step alone.
            starts: the number of EM runs, all but the first from random tables; the best is kept.
            max_iter: the largest number of EM steps.
            tol: it has converged when the relative gain in log-likelihood is at most this.
            seed: for the random starts.

        Raises:
            UnknownVariable, InvalidArgument, InvalidFrame, InvalidEvidence: data that cannot be read, or an
                option out of range.
            ImpossibleEvidence: what is observed has probability zero under the current parameters.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.5, False: 0.5}, parents=["rain[-1]"], initial=0.5)
        >>> dbn.fit({"rain": [True, True, False, False, False, True]}).cpd("rain").values.round(6).tolist()
        [[0.666667, 0.333333], [0.5, 0.5]]
        """
        found, _ = self._read(data, lengths, sequence, ())
        fitting = network_learning.DynamicNetworkLearning(
            self._nodes, found, self._layout(), weights, fixed, prior, estimate
        )
        nodes, report = self._answered(found, lambda: fitting.run(starts, max_iter, tol, generator(seed)))
        self._nodes, self._layouts, self.fit_report = nodes, {}, report
        return self

    # --- as another model ---

    def unroll(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "rain[0]", "rain[1]", ...; static variables once.

        Args:
            steps: how many.

        Raises:
            InvalidArgument: it is not a whole number of at least 1.
            IncompleteModel: a variable or a distribution is missing.

        >>> dbn = DynamicBayesianNetwork()
        >>> dbn.add("rain", {True: 0.7, False: 0.2}, parents=["rain[-1]"], initial=0.4)
        >>> dbn.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> round(dbn.unroll(3).query("rain[0]", {"wet[0]": True, "wet[1]": True, "wet[2]": False})[True], 6)
        0.921757
        """
        return network_unrolled.unrolled(self.name, self._nodes, _count(steps, "steps="))

    to_network = unroll

    def plot(
        self,
        given: Any = None,
        *,
        steps: int | None = None,
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the network: a step and those that it looks back at, or the first steps; returns the Axes.

        Args:
            given: a sequence: every variable is drawn with its posterior, in as many steps.
            steps: how many steps to unroll; left out: as many as the picture needs.
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the drawing needs if left out.
            title: the title; the name of the model if left out.
        """
        from pgm import plot

        known = None if given is None else network_unrolled.evidence(self._nodes, given)
        named = known is None and steps is None
        if known is not None and steps is None:
            steps = max([network_unrolled.step_of(name, self._nodes) for name in known], default=0) + 1
        count = self.lag + 1 if steps is None else _count(steps, "steps=")
        net, plates = network_unrolled.drawn(self.name, self._nodes, count, named=named)
        return plot.network(net, ax=ax, given=known, plates=plates, figsize=figsize, title=title)

    # --- in print ---

    def __repr__(self) -> str:
        name = f"{shown(self.name)}, " if self.name else ""
        return f"{type(self).__name__}({name}{len(self):,} variables, lag {self.lag})"

    def __str__(self) -> str:
        return text_table(*printed(self._lines(), repr(self)))

    def _repr_html_(self) -> str:
        return html_table(*printed(self._lines(), repr(self)))

    def _lines(self) -> tuple[list[str], list[list[str]], int]:
        rows = []
        for node in list(self._nodes.values())[:30]:
            states = joined(node.domain.states, len(node.domain.states)) or "continuous"
            parents = joined(node.parents, len(node.parents)) or "-"
            rows.append([node.name, f"{parents} (static)" if node.static else parents, states])
        return ["variable", "parents", "states"], rows, len(self)

    # --- internals ---

    def _laid_out(self, *, best: bool) -> interface.SliceLayout:
        if best not in self._layouts:
            template = network_slices.template(self._nodes)
            self._layouts[best] = interface.SliceLayout(template, start_clock(), best=best)
        return self._layouts[best]

    def _layout(self, *, best: bool = False) -> interface.SliceLayout:
        layout = self._laid_out(best=best)
        interface.check(layout, self.nodes)
        return layout

    def _read(
        self, data: Any, lengths: Any, sequence: Any, targets: Any, *, fits: bool = True
    ) -> tuple[Read, list[int]]:
        template = self._layout().template if fits else network_slices.template(self._nodes)
        found = read(self._nodes, template, data, lengths, sequence)
        check_noise(self._nodes, template, found)
        return found, self._wanted(found, targets)

    def _wanted(self, found: Read, targets: Any) -> list[int]:
        """The variables that are asked about; by default those that are not always observed."""
        if targets is None:
            targets = [name for name in self._with_states() if name not in found.observed]
        every = self.variables
        asked = names_of(targets, every)
        for name in asked:
            if every[name].continuous:
                raise InvalidEvidence(f"{name!r} is continuous: only states have probabilities here.")
        return [self.nodes.index(name) for name in asked]

    def _with_states(self) -> list[str]:
        return [name for name, v in self.variables.items() if not v.continuous]

    def _some(self, wanted: Sequence[int]) -> tuple[Variable, ...]:
        every = list(self.variables.values())
        return tuple([every[v] for v in wanted])

    def _beliefs(
        self, found: Read, wanted: Sequence[int], values: np.ndarray, scores: np.ndarray, about: str
    ) -> Any:
        variables = self._some(wanted)
        starts = found.sequences.starts.tolist()
        each = [NetworkBeliefs(variables, values[a:b], scores[a:b], about) for a, b in pairwise(starts)]
        return each[0] if found.sequences.lone else PerSequence(each, found.sequences.ids, INTERFACE)

    def _answered(self, found: Read, work: Callable[[], _Answer]) -> _Answer:
        try:
            return work()
        except interface.ImpossibleRow as error:
            place = found.sequences.place(error.row)
            raise ImpossibleEvidence(
                f"{place[0].upper()}{place[1:]}: what is observed here is impossible after what was observed "
                "before: the network gives it probability zero."
            ) from None
        except interface.Unseen as error:
            place = "ahead" if error.row >= found.rows.n else found.sequences.place(error.row)
            raise self._unseen(place, error) from None

    def _unseen(self, place: str, error: interface.Unseen) -> InvalidArgument:
        child, parent = self.nodes[error.child], self.nodes[error.parent]
        return InvalidArgument(
            f"{place[0].upper()}{place[1:]}: {child!r} depends on the continuous {parent!r}, which was not "
            "observed: only states are summed out step by step. Unroll the network, and query that: "
            "dbn.unroll(T)."
        )


def _count(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidArgument(f"{what} is a whole number of at least 1, not {shown(value)}.")
    return int(value)


guard_classes([DynamicBayesianNetwork])
