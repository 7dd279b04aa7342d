"""Hidden Markov models of urns that are drawn from without replacement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.cpds.table_input import check_cells
from pgm.distributions import Categorical, Tied
from pgm.errors import InvalidArgument, listed, shown
from pgm.inference.engines.staged import stage
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import Variable, as_domain

from .chain_network import steps_of
from .chain_tables import IMPOSSIBLE, ChainLayout, Entries, KnownEntries
from .checks import distribution, names, printed_rows, transitions
from .expanded_network import network
from .hidden import HiddenChain, Sheet


class UrnHMM(HiddenChain):
    """A hidden Markov model whose states are urns, drawn from without replacement.

    What an urn holds depends on what was drawn before, so contents are part of the state: there is a place
    for each urn, contents that can be reached, and colour. Paths that lead to an empty urn are impossible.

    Args:
        initial: the probabilities of the first urn.
        transition: for each urn the probabilities of the next one.
        urns: a dict from the names of urns to dicts from colours to how many there are of each.
        name: of the model, in print and in files.

    >>> two = UrnHMM([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], {1: {"R": 2, "B": 1}, 2: {"R": 1, "B": 2}})
    >>> round(float(np.exp(two.score(["R", "R", "B"]))), 10)
    0.1477777778
    """

    _word = "UrnHMM"
    urns: dict[Any, dict[Any, int]]

    def __init__(self, initial: Any, transition: Any, urns: Any, *, name: str = "") -> None:
        if not isinstance(name, str):
            raise InvalidArgument(f"The name of a model is text, not {shown(name)}.")
        if (
            not isinstance(urns, Mapping)
            or not urns
            or not all(isinstance(u, Mapping) for u in urns.values())
        ):
            raise InvalidArgument(
                f"urns= is a dict from urns to dicts of colours and counts, not {shown(urns)}."
            )
        for urn, balls in urns.items():
            for colour, many in balls.items():
                if isinstance(many, bool) or not isinstance(many, int | np.integer) or many < 0:
                    raise InvalidArgument(
                        f"The urn {urn!r} has a count of {colour!r}, a whole number of at least 0, not "
                        f"{shown(many)}."
                    )
        self.urns = {urn: {colour: int(n) for colour, n in balls.items()} for urn, balls in urns.items()}
        self.name, self.fit_report, self._masks = name, None, {}
        self.variable = Variable.of("urn", as_domain(list(urns)))
        colours = list(dict.fromkeys(colour for balls in urns.values() for colour in balls))
        if not colours:
            raise InvalidArgument(f"The urns {listed(urns)} hold nothing.")
        k = self.variable.card
        self._shapes = {("initial", ""): (k,), ("transition", ""): (k, k)}
        self._tables = {
            ("initial", ""): distribution(initial, self.variable, "initial="),
            ("transition", ""): transitions(transition, self.variable),
        }
        full = tuple(tuple(balls.get(colour, 0) for colour in colours) for balls in self.urns.values())
        self._expand(full, colours)

    def _expand(self, full: tuple[tuple[int, ...], ...], colours: list[Any]) -> None:
        """All places that can be reached: an urn, contents before a draw, and the colour that is drawn."""
        k, n_colours = len(full), len(colours)
        contents = {full: 0}
        waiting = [full]
        for now in waiting:  # grows while it is read
            for urn in range(k):
                for colour in range(n_colours):
                    if now[urn][colour]:
                        after = _without(now, urn, colour)
                        if after not in contents:
                            contents[after] = len(contents)
                            waiting.append(after)
                            check_cells((len(contents) * k, n_colours * 4), "Contents", "take fewer balls")
        states: list[tuple[int, int, int]] = []
        shares: list[float] = []
        for now, index in contents.items():
            for urn in range(k):
                total = sum(now[urn])
                for colour in range(n_colours):
                    if now[urn][colour]:
                        states.append((urn, index, colour))
                        shares.append(now[urn][colour] / total)
        self._contents, self._places = list(contents), states
        source: list[int] = []
        to: list[int] = []
        entry: list[int] = []
        for i, (urn, c, colour) in enumerate(states):
            left = contents[_without(self._contents[c], urn, colour)]
            for following in range(k):
                source.append(i)
                to.append(left * k + following)
                entry.append(urn * k + following)
        move, order = stage(len(states), len(contents) * k, source, to)
        moved = Entries(("transition", ""), np.array(entry, np.int64)[order])
        before = [c * k + urn for urn, c, _ in states]
        take, order = stage(len(contents) * k, len(states), before, np.arange(len(states)))
        taken = KnownEntries(("transition", ""), np.empty(0, np.int64), np.array(shares)[order])
        first = [urn if c == 0 else IMPOSSIBLE for urn, c, _ in states]
        start = Entries(("initial", ""), np.array(first, np.int64))
        drawn = KnownEntries(("initial", ""), np.empty(0, np.int64), np.array(shares))
        self._layout = ChainLayout((start, drawn), ((move, (moved,)), (take, (taken,))))
        self._visible = np.array([urn for urn, _, _ in states], np.int64)
        seen = np.array([colour for _, _, colour in states], np.int64)
        self._emission = Tied(Categorical(np.eye(n_colours), symbols=colours), seen)

    @property
    def initial(self) -> np.ndarray:
        """The probabilities of the first urn."""
        return self._tables["initial", ""]

    @property
    def transition(self) -> np.ndarray:
        """P(next urn | urn)."""
        return self._tables["transition", ""]

    @property
    def _conditioned(self) -> bool:
        return True

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: contents are fixed."""
        return sum(map(self._free_of, self._shapes))

    def _with(self, tables: Any, emission: Any) -> Any:
        """The same with other tables; contents stay."""
        return super()._with(tables, self._emission)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps: "place[t]" is an urn, contents and what is drawn.

        Paths that lead to an empty urn end in "ends[t]": given that it is False, answers are the same.
        """
        colours = self._emission.domain.states
        places = [(self.states[urn], self._contents[c], colours[colour]) for urn, c, colour in self._places]
        return network(self, steps_of(steps), as_domain(places))

    def __eq__(self, other: object) -> bool:
        """Equal when urns and parameters are."""
        return isinstance(other, UrnHMM) and self.urns == other.urns and bool(super().__eq__(other))

    __hash__ = None

    def _title(self) -> str:
        return f"{super()._title()}, {len(self._contents):,} contents"

    def _sheets(self) -> list[Sheet]:
        called = names(self.variable)
        rows = [
            [name, ", ".join(f"{n} {colour}" for colour, n in balls.items()), start, *moves]
            for name, balls, start, moves in zip(
                called,
                self.urns.values(),
                printed_rows(self.initial[None])[0],
                printed_rows(self.transition),
                strict=True,
            )
        ]
        note = "draws depend on what is left"
        return [("", ["urn", "holds", "initial", *(f"to {name}" for name in called)], rows, note)]

    def _emits(self) -> list[tuple[str, Any, list[str]]]:
        return []


def _without(contents: tuple[tuple[int, ...], ...], urn: int, colour: int) -> tuple[tuple[int, ...], ...]:
    """Contents after a draw."""
    left = list(contents[urn])
    left[colour] -= 1
    return (*contents[:urn], tuple(left), *contents[urn + 1 :])
