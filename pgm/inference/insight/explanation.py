"""Why an answer is what it is: the contribution of each finding, and conflicts between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.graphs.walks import Arrows
from pgm.inference.insight.aims import Aim, Given, aim, log_odds
from pgm.inference.insight.flows import MOST_FINDINGS, flows
from pgm.inference.insight.subsets import Parts
from pgm.printing import Share, Tabular, joined, label, number
from pgm.results.base import Result, condition, pandas, put
from pgm.results.report import Report
from pgm.runtime.clock import start_clock
from pgm.variables import State

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MOST_PAIRS = 64  # findings for which every pair is examined
_RARE = 20  # the most states that would explain a conflict away to be kept
_STILL = 1e-12  # log-odds: rounding


class Trails(Protocol):
    """A network's arrows."""

    def active_trail(self, a: str, b: str, given: Any = None) -> tuple[str, ...] | None:
        """A shortest active path."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The contribution of one finding to the probability of a state.

    `alone` and `without` are the answer given only this finding, and given all others; `adds` is by how much
    it moves the log-odds given the others, `adds_alone` by how much from the prior. `paths` has the active
    paths to the target with how much passes along each: the smallest total variation by which the finding
    moves any variable on the path, given the others.
    """

    name: str
    value: object  # as the user gave it
    alone: float
    without: float
    adds_alone: float
    adds: float
    path: tuple[str, ...]  # a shortest active path to the target; empty: there is none
    paths: tuple[tuple[tuple[str, ...], float], ...] = ()  # with how much passes along each, the most first

    @property
    def text(self) -> str:
        """As in wet=True."""
        return condition({self.name: self.value})


class AnswerExplanation(Result, Tabular, Mapping[str, Finding]):
    """Why P(state | given) is what it is, finding by finding; it prints as a table, `story` has sentences.

    `conflict` is the logarithm of the product of all P(finding) over P(findings): above zero they are less
    probable together than apart, which hints at a mistake or a rare case (Jensen et al. 1991). `pairs` has
    the conflict of every two findings, the worst first, and `rare` the states of unobserved variables that
    would explain the conflict away, with the conflict that would be left.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", 0.3); net.add("sprinkler", 0.2)
    >>> net.add("wet", {(False, False): 0.1, ...: 0.9}, parents=["rain", "sprinkler"])
    >>> net.explain("rain", {"wet": True, "sprinkler": True})
    P(rain=True | wet=True, sprinkler=True) = 0.300000, 0.300000 before
    finding         alone     log-odds  without   log-odds
    wet=True        0.597345  1.241713  0.300000  0.000000
    sprinkler=True  0.300000  0.000000  0.597345  -1.241713
    conflict -0.688713: the findings support each other
    """

    __slots__ = (
        "_findings",
        "aim",
        "arrows",
        "before",
        "conflict",
        "moved",
        "pairs",
        "rare",
        "report",
        "steps",
    )
    report: Report
    aim: Aim
    before: float  # the prior probability
    steps: tuple[float, ...]  # the probability as findings come in, in the order given; the first is `before`
    conflict: float
    pairs: dict[tuple[str, str], float]
    rare: dict[tuple[str, State], float]
    arrows: tuple[tuple[str, str], ...]  # of the network, for the picture
    moved: dict[str, float]  # how far the findings moved each unobserved variable, in total variation
    _findings: dict[str, Finding]

    def __init__(
        self,
        aim: Aim,
        steps: Sequence[float],
        findings: Mapping[str, Finding],
        conflict: float,
        pairs: Mapping[tuple[str, str], float],
        rare: Mapping[tuple[str, State], float],
        moved: Mapping[str, float],
        arrows: Sequence[tuple[str, str]],
        report: Report,
    ) -> None:
        """Store the results of `explain`."""
        put(self, "aim", aim)
        put(self, "before", steps[0])
        put(self, "steps", tuple(steps))
        put(self, "_findings", dict(findings))
        put(self, "conflict", conflict)
        put(self, "pairs", dict(pairs))
        put(self, "rare", dict(rare))
        put(self, "moved", dict(moved))
        put(self, "arrows", tuple(arrows))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return (
            *(self.aim, self.steps, self._findings, self.conflict, self.pairs, self.rare, self.moved),
            self.arrows,
            self.report,
        )

    def __getitem__(self, name: str) -> Finding:
        return self._findings[name]

    def __iter__(self) -> Any:
        return iter(self._findings)

    def __len__(self) -> int:
        return len(self._findings)

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.aim.name

    @property
    def state(self) -> State:
        """The state that is explained."""
        return self.aim.state

    @property
    def after(self) -> float:
        """Its probability given all findings."""
        return self.aim.probability

    @property
    def without(self) -> dict[str, float]:
        """{finding: the probability given all others}."""
        return {name: finding.without for name, finding in self.items()}

    @property
    def alone(self) -> dict[str, float]:
        """{finding: the probability given it alone}."""
        return {name: finding.alone for name, finding in self.items()}

    @property
    def pulls(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The findings that raise the probability given the others, and those that lower it."""
        up = tuple(name for name, f in self.items() if f.adds > _STILL)
        return up, tuple(name for name, f in self.items() if f.adds < -_STILL)

    @property
    def story(self) -> str:
        """The explanation in a few plain sentences.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3); net.add("wet", {True: 0.9, False: 0.1}, parents=["rain"])
        >>> net.explain("rain", {"wet": True}).story
        'Before anything is known, P(rain=True) is 0.300. wet=True raises it to 0.794.'
        """
        return " ".join(self._sentences())

    def _sentences(self) -> list[str]:
        event = f"{label(self.target)}={label(self.state)}"
        said = [f"Before anything is known, P({event}) is {self.before:.3f}."]
        findings = list(self.values())
        if len(findings) == 1:
            verb = _verb(self.after, self.before)
            said.append(f"{findings[0].text} {verb}{f' it to {self.after:.3f}' if verb != _KEEPS else ''}.")
            return said
        every = "both" if len(findings) == 2 else f"all {len(findings):,}"
        said.append(f"Given {every} findings, it is {self.after:.3f}.")
        ranked = sorted(findings, key=lambda f: -abs(f.adds) if not math.isnan(f.adds) else 0.0)
        for f in ranked[:3]:
            verb = _verb(self.after, f.without)
            end = f" it from {f.without:.3f} to {self.after:.3f}" if verb != _KEEPS else ""
            said.append(f"Given the others, {f.text} {verb}{end}.")
        turned = [f for f in ranked if f.adds * f.adds_alone < -_STILL]
        for f in turned[:2]:
            said.append(f"Alone, {f.text} would have done the opposite: {f.alone:.3f}.")
        up, down = self.pulls
        if up and down:
            said.append(f"{_pull(up)} it up; {_pull(down)} it down.")
        silent = [f.text for f in findings if not f.path]
        if silent:
            are = "is" if len(silent) == 1 else "are"
            said.append(f"{joined(silent, len(silent))} {are} blocked by the other findings.")
        if self.conflict > 0.0:
            said.append(f"The findings are less probable together than apart (conflict {self.conflict:.3f}).")
            if self.rare:
                (name, state), left = next(iter(self.rare.items()))
                said.append(
                    f"{label(name)}={label(state)} would explain that away ({left:.3f} would be left)."
                )
        return said

    def to_dict(self) -> dict[str, Any]:
        """The results: before, after, conflict, and for each finding alone, without, adds_alone, adds."""
        each = {
            name: {"alone": f.alone, "without": f.without, "adds_alone": f.adds_alone, "adds": f.adds}
            for name, f in self.items()
        }
        return {"before": self.before, "after": self.after, "conflict": self.conflict, "findings": each}

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each finding."""
        each = self.to_dict()["findings"]
        frame: pd.DataFrame = pandas().DataFrame.from_dict(each, orient="index")
        return frame.rename_axis("finding")

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "waterfall",
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the explanation; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            kind: "waterfall", the log-odds as findings come in, in the order given; or "paths", the arrows
                along which the findings influence the target: the darker a variable, the further it moved.
            figsize: width and height of a new figure in inches.
            title: the title.

        Raises:
            InvalidArgument: there is no such kind.
        """
        from pgm import plot

        if kind == "waterfall":
            return plot.waterfall(self, ax, figsize=figsize, title=title)
        if kind == "paths":
            return plot.explaining_paths(self, ax, figsize=figsize, title=title)
        raise InvalidArgument(f'kind is "waterfall" or "paths", not {shown(kind)}.')

    def _heading(self) -> str:
        return f"{self.aim.title} = {number(self.after)}, {number(self.before)} before"

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for f in self.values():
            alone, rest = Share(f.alone), Share(f.without)
            rows.append([f.text, alone, number(f.adds_alone), rest, number(f.adds)])
        how = (
            "conflict"
            if self.conflict > 0.0
            else "support each other"
            if self.conflict < 0.0
            else "are independent"
        )
        notes = [f"conflict {number(self.conflict)}: the findings {how}"] if len(self) > 1 else []
        return ["finding", "alone", "log-odds", "without", "log-odds"], rows, "\n".join(notes)


_KEEPS = "says nothing about it"


def _pull(names: Sequence[str]) -> str:
    return f"{joined(names, len(names))} pull{'s' if len(names) == 1 else ''}"


def _verb(after: float, before: float) -> str:
    if math.isclose(after, before, rel_tol=1e-9, abs_tol=1e-12):
        return _KEEPS
    return "raises" if after > before else "lowers"


def explain(model: Any, target: object, given: Given, state: State | None) -> AnswerExplanation:
    """See `BayesianNetwork.explain`."""
    clock = start_clock()
    asked = aim(model, target, given, state)
    names = list(asked.given)
    n = len(names)
    if not n:
        raise InvalidArgument(
            f"Nothing is given, so nothing explains {asked.title} but the network's own parameters: "
            f"net.sensitivity({asked.name!r}) shows which ones matter."
        )
    alone = np.eye(n, dtype=bool)
    prefixes = np.tril(np.ones((n, n), dtype=bool))
    pairs = list(combinations(range(n), 2)) if n <= _MOST_PAIRS else []
    both = np.zeros((len(pairs), n), dtype=bool)
    for row, (i, j) in enumerate(pairs):
        both[row, [i, j]] = True
    sets = np.vstack([np.zeros((1, n), dtype=bool), alone, ~alone, prefixes, both])
    shares, logs = Parts(model, asked.variable, asked.given, clock).answers(sets)
    p = shares[:, asked.code]
    before, after, total = float(p[0]), asked.probability, float(logs[3 * n])
    findings = {}
    told = _moved_by(model, asked, names) if n <= MOST_FINDINGS else {}
    arrows = Arrows.of({name: model.parents(name) for name in model.variables})
    for i, name in enumerate(names):
        apart, rest = float(p[1 + i]), float(p[1 + n + i])
        others = [other for other in names if other != name]
        path = model.active_trail(name, asked.name, given=others)
        paths = flows(arrows, name, asked.name, others, told[name]) if told and path else ()
        findings[name] = Finding(
            *(name, asked.given[name], apart, rest, _step(before, apart), _step(rest, after)),
            *(path or (), paths),
        )
    singles = logs[1 : 1 + n]
    conflict = float(singles.sum()) - total
    if abs(conflict) <= 1e-12 * (1.0 + abs(total)):  # rounding: the findings are independent
        conflict = 0.0
    own = {
        (names[i], names[j]): float(singles[i] + singles[j] - logs[1 + 3 * n + row])
        for row, (i, j) in enumerate(pairs)
    }
    moved, rare = _unobserved(model, asked, conflict)
    return AnswerExplanation(
        asked,
        (before, *map(float, p[1 + 2 * n : 1 + 3 * n])),
        findings,
        conflict,
        dict(sorted(own.items(), key=lambda item: -item[1])),
        rare,
        moved,
        model.edges,
        asked.answer.report,
    )


def _step(before: float, after: float) -> float:
    """The difference of log-odds; 0 if both are certain of the same."""
    return 0.0 if math.isclose(before, after, rel_tol=1e-14) else log_odds(after) - log_odds(before)


def _moved_by(model: Any, asked: Aim, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """How far each finding moves every unobserved discrete variable, given the others: total variation."""
    variables = model.variables
    rest = [name for name, one in variables.items() if not one.continuous and name not in asked.given]
    after = model.marginals(asked.given, targets=rest)
    found = {}
    for name in names:
        others = {other: value for other, value in asked.given.items() if other != name}
        before = model.marginals(others, targets=rest)
        found[name] = {
            one: 0.5 * float(np.abs(np.asarray(after[one].values) - np.asarray(before[one].values)).sum())
            for one in rest
        }
    return found


def _unobserved(
    model: Any, asked: Aim, conflict: float
) -> tuple[dict[str, float], dict[tuple[str, State], float]]:
    """How far unobserved variables moved, and those of their states that would explain a conflict away."""
    names = [name for name, one in model.variables.items() if not one.continuous and name not in asked.given]
    prior, posterior = model.marginals(targets=names), model.marginals(asked.given, targets=names)
    moved: dict[str, float] = {}
    rare: dict[tuple[str, State], float] = {}
    for name, after in posterior.items():
        variable = model.variables[name]
        old, new = np.asarray(prior[name].values), np.asarray(after.values)
        moved[name] = 0.5 * float(np.abs(new - old).sum())
        if conflict <= 0.0:
            continue
        for state, p, q in zip(variable.states, old.tolist(), new.tolist(), strict=True):
            if q > p > 0.0 and (left := conflict + math.log(p) - math.log(q)) <= 0.0:
                rare[name, state] = left
    best = sorted(rare.items(), key=lambda item: item[1])[:_RARE]
    return moved, dict(best)
