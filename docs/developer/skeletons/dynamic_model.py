"""A model over time: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/models/dynamic/sticky.py: this file; the functions of its last part go to pgm/io/json/sticky.py
-> pgm/models/dynamic/__init__.py: its import, and its line among the guarded: wrong keywords are then named
-> pgm/io/json/__init__.py: its line in FORMS, with version=2; and docs/schema/pgm-2.json, which describes its key
-> pgm/__init__.py: its name, for the type checker, in __all__ and in _LAZY
-> docs/reference/models.rst, docs/conf.py, CHANGELOG.md: a line each
-> tests/test_randomness.py, tests/html_page.py: a line each, beside the other models
-> tests/models/test_sticky.py: its answers beside those of `to_network`; its file, which comes back as it was, by the schema

This one stays in its state with one probability, and else goes to any other state alike.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, PGMError, shown
from pgm.frames import sequences
from pgm.io.json.states import read_domain, write_domain
from pgm.models.bayesian_network import BayesianNetwork
from pgm.printing import html_facts, text_facts
from pgm.randomness import draw_count, generator
from pgm.results import Logarithm
from pgm.results.steps import CHAIN
from pgm.variables import as_domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- arithmetic: functions of arrays. -> loops over steps belong in a compiled.py of pgm/inference/engines ---


def log_likelihood(first: np.ndarray, stayed: float, moved: float, stay: float, k: int) -> float:
    """Log P of paths that begin in these states, as often as the counts, and stayed and moved so often."""
    if (stayed and stay == 0.0) or (moved and stay == 1.0):
        return -math.inf
    total = -math.log(k) * float(first.sum())
    total += stayed * math.log(stay) if stayed else 0.0
    return total + (moved * math.log((1.0 - stay) / (k - 1)) if moved else 0.0)


# --- the model: holds parameters, checks, calls them, wraps what comes back ---


class Sticky:
    """A chain of states that tends to stay where it is.

    Args:
        stay: the probability of the same state again; None: to be fitted.
        states: the states, two at least.
        name: what the model is called in print.

    >>> Sticky(0.9, states=["dry", "wet"]).score(["dry", "dry", "wet"])  # log(1/2 * 0.9 * 0.1)
    -3.101092789211817
    """

    def __init__(self, stay: float | None = None, *, states: Any, name: str = "") -> None:
        self.name, self.domain = name, as_domain(states)
        if self.domain.card < 2:
            raise InvalidArgument(f"states= has two states at least, not {shown(states)}.")
        self._stay = None if stay is None else _probability(stay)

    @property
    def stay(self) -> float:
        """The probability of the same state again."""
        if self._stay is None:
            raise InvalidArgument("The chain has no parameters yet: fit it to sequences.")
        return self._stay

    def score(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Logarithm:
        """Return log P of a sequence of states, or of all sequences together.

        Args:
            data: a sequence, or several: a list of them, an array with `lengths`, or a data frame.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not a state or missing; a sequence is empty; there are no parameters yet.

        >>> float(Sticky(0.5, states=[0, 1]).score([[0], [1]]))  # two sequences of one step
        -1.3862943611198906
        """
        counts = self._counted(data, lengths, sequence)
        return Logarithm(log_likelihood(*counts, self.stay, self.domain.card), CHAIN)  # -> its report

    def fit(self, data: Any, *, lengths: Any = None, sequence: Any = None) -> Self:
        """Learn from sequences of states; returns the chain itself, which stays as it was if this fails.

        Args:
            data: sequences, as for `score`.
            lengths: how many steps each sequence has, if all are concatenated.
            sequence: the column of a data frame that says which sequence a row belongs to.

        Raises:
            InvalidArgument: a value is not a state or missing; no sequence has a second step.

        >>> Sticky(states=["dry", "wet"]).fit(["dry", "dry", "dry", "wet", "wet"]).stay
        0.75
        """
        _, stayed, moved = self._counted(data, lengths, sequence)
        if not stayed + moved:
            raise InvalidArgument("There is no second step in these sequences to learn from.")
        self._stay = stayed / (stayed + moved)
        return self

    def sample(self, n: int, *, seed: int | np.random.Generator | None = None) -> np.ndarray:
        """Draw a sequence of states.

        Args:
            n: how many.
            seed: for the same draws again.

        Raises:
            InvalidArgument: n or the seed is not a whole number, or negative; there are no parameters yet.

        >>> Sticky(1.0, states=["dry", "wet"]).sample(3, seed=0).tolist() in (["dry"] * 3, ["wet"] * 3)
        True
        """
        random, k = generator(seed), self.domain.card  # the one gate for seeds
        moves = random.random(draw_count(n)) >= self.stay
        steps = np.where(moves, random.integers(1, k, size=n), 0)
        steps[:1] = random.integers(k, size=min(n, 1))
        return np.take(self.domain.array, steps.cumsum() % k)

    def to_network(self, steps: int) -> BayesianNetwork:
        """Return the Bayesian network of this many steps, "state[0]", "state[1]", ...: the same numbers.

        Args:
            steps: how many.

        Raises:
            InvalidArgument: not a whole number of at least 1; there are no parameters yet.

        >>> float(Sticky(0.75, states=["dry", "wet"]).to_network(2).query("state[1]", {"state[0]": "dry"})["wet"])
        0.25
        """
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidArgument(f"steps= is a whole number of at least 1, not {shown(steps)}.")
        k, states = self.domain.card, list(self.domain.states)
        move = np.full((k, k), (1.0 - self.stay) / (k - 1))
        np.fill_diagonal(move, self.stay)
        net = BayesianNetwork(self.name)
        net.add("state[0]", np.full(k, 1.0 / k), states=states)
        for t in range(1, steps):
            net.add(f"state[{t}]", move, parents=[f"state[{t - 1}]"], states=states)
        return net

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw two steps of it; returns the Axes."""  # -> a picture of its own: a function in pgm/plot
        return self.to_network(2).plot(ax=ax, figsize=figsize, title=title)

    def copy(self) -> Self:
        """Return an independent copy."""
        made = self.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __eq__(self, other: object) -> bool:
        """Equal when states and parameters are."""
        if not isinstance(other, Sticky):
            return NotImplemented
        return (self.name, self.domain, self._stay) == (other.name, other.domain, other._stay)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """What it is, as a list of facts."""
        return text_facts(self._facts())

    def _repr_html_(self) -> str:
        return html_facts(self._facts())

    def _facts(self) -> list[tuple[str, str]]:
        stay = "not fitted yet" if self._stay is None else f"{self._stay:.6g}"
        return [("states", ", ".join(map(str, self.domain.states))), ("stays", stay)]

    def _counted(self, data: Any, lengths: Any, sequence: Any) -> tuple[np.ndarray, float, float]:
        """How often sequences begin in each state, stay and move: sufficient statistics."""
        domain = self.domain
        read = sequences(  # the one gate for sequences
            data, lengths=lengths, sequence=sequence, is_value=lambda value: domain.find(value) >= 0
        )
        codes = read.codes(domain, "states")
        if (codes < 0).any():
            place = read.place(int((codes < 0).argmax()))
            raise InvalidArgument(f"{place[0].upper()}{place[1:]}: the state is missing.")
        inside = np.ones(codes.size, dtype=bool)
        inside[read.starts[:-1]] = False
        same = codes == np.roll(codes, 1)
        first = np.bincount(codes[~inside], minlength=domain.card)
        return first, float((inside & same).sum()), float((inside & ~same).sum())


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value <= 1.0:
        raise InvalidArgument(f"stay= is a probability, from 0 to 1, not {shown(value)}.")
    return float(value)


# --- its JSON: a key of its own; `Part` finds the line and column of whatever is wrong ---

KEY = "sticky"


def write(model: Sticky) -> dict[str, Any]:
    """Return what stands under the key, to the last bit."""
    return {**write_domain("state", model.domain), "stay": model.stay}


def read(part: Part) -> Sticky:
    """Return the model of a file."""
    value = part.members("a model", ["pgm", KEY], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(KEY)
    inside.members("a sticky chain", ["states", "stay"], [])
    states = read_domain(inside, "state").states
    stay = inside.at("stay").number("how often it stays")
    try:
        return Sticky(stay, states=states, name=value.get("name", ""))
    except PGMError as error:
        inside.fail(str(error))
