"""What to ask next, when to stop, and a whole diagnosis as a tree of questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument, UnknownState, UnknownVariable, shown
from pgm.inference.asking.session import whole
from pgm.inference.insight.aims import Given, target_of
from pgm.inference.insight.costs import cost_of, read_costs
from pgm.inference.insight.informing import Cases, candidates, gains
from pgm.printing import ROWS, Tabular, label, number
from pgm.results.base import Result, condition, pandas, put
from pgm.results.report import Report
from pgm.runtime.clock import start_clock
from pgm.variables import State, Variable, is_missing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MOST_NODES = 20_000  # of a tree


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """What to observe next; `name` is None if it is better to stop, and `reason` says why.

    `outcomes` has, for each possible answer, its probability and P(target | given, answer).

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("ill", 0.3); net.add("test", {True: 0.9, False: 0.2}, parents=["ill"])
    >>> question = net.next_question("ill")
    >>> question.name, round(question.outcomes[True][1][True], 6)
    ('test', 0.658537)
    >>> net.next_question("ill", {"test": True}).reason
    'no remaining variable is informative about ill'
    """

    name: str | None
    reason: str
    gain: float  # expected information, in nats
    cost: float
    outcomes: Mapping[State, tuple[float, Mapping[State, float]]]

    def __bool__(self) -> bool:
        """Whether there is something to ask."""
        return self.name is not None

    def __str__(self) -> str:
        if self.name is None:
            return f"stop: {self.reason}"
        return f"ask {self.name}: {self.reason}"


@dataclass(frozen=True, slots=True)
class DiagnosisStep:
    """A node of a diagnosis: a question with what follows each answer, or a conclusion."""

    probability: float  # of reaching this node
    shares: Mapping[State, float]  # P(target | answers so far)
    question: str | None
    reason: str
    answers: Mapping[State, DiagnosisStep]

    @property
    def conclusion(self) -> State:
        """The most probable state of the target here."""
        return max(self.shares, key=lambda state: self.shares[state])

    def leaves(self) -> Iterator[DiagnosisStep]:
        """The conclusions below, in order."""
        waiting = [self]
        while waiting:
            step = waiting.pop()
            if step.question is None:
                yield step
            waiting += reversed(list(step.answers.values()))


class Diagnosis(Result, Tabular):
    """A diagnosis as a decision tree: the most informative question at each node, until it is time to stop.

    `right` is the probability that its conclusion is the true state, `questions` how many it asks on
    average, and `cost` what these cost on average.

    >>> import pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("ill", 0.3)
    >>> net.add("test", {True: 0.9, False: 0.2}, parents=["ill"])
    >>> net.add("scan", {True: 0.99, False: 0.05}, parents=["ill"])
    >>> net.diagnosis("ill", sure=0.9)
    question or conclusion       probability  P
    scan?                        1.000000     0.700000 False
      scan=False: ill=False      0.668000     0.995509 False
      scan=True: test?           0.332000     0.894578 True
        test=False: ill=True     0.057700     0.514731 True
        test=True: ill=True      0.274300     0.974480 True
    right with probability 0.962000, after 1.332000 questions on average
    """

    __slots__ = ("_variable", "costs", "given_", "report", "root")
    report: Report
    root: DiagnosisStep
    costs: Mapping[frozenset[str], float]
    _variable: Variable
    given_: Mapping[str, object]

    def __init__(
        self,
        variable: Variable,
        given: Mapping[str, object],
        root: DiagnosisStep,
        costs: Mapping[frozenset[str], float],
        report: Report,
    ) -> None:
        """Store a tree that was grown for a target."""
        put(self, "_variable", variable)
        put(self, "given_", dict(given))
        put(self, "root", root)
        put(self, "costs", dict(costs))
        put(self, "report", report)

    def _parts(self) -> tuple[object, ...]:
        return self._variable, self.given_, self.root, self.costs, self.report

    @property
    def target(self) -> str:
        """The name of the target."""
        return self._variable.name

    @property
    def right(self) -> float:
        """The probability that the conclusion is the true state."""
        return math.fsum(leaf.probability * max(leaf.shares.values()) for leaf in self.root.leaves())

    @property
    def questions(self) -> float:
        """How many questions are asked on average."""
        return math.fsum(step.probability for step, _, _ in _walk(self.root) if step.question is not None)

    @property
    def cost(self) -> float:
        """What the questions cost on average; variables that form a group cost what the group does."""
        if not self.costs:
            return 0.0
        paths = ((step, asked) for step, asked, _ in _walk(self.root) if step.question is None)
        return math.fsum(step.probability * cost_of(asked, self.costs) for step, asked in paths)

    def follow(self, frame: Any) -> dict[str, np.ndarray]:
        """Ask the questions of each row of a frame: {"conclusion": states, "questions": how many}.

        If a row has no answer to a question, the conclusion is drawn from the answers before it.

        Args:
            frame: a dict of columns, or a data frame of pandas or polars.

        Raises:
            UnknownVariable: a question is not a column.
            UnknownState: a value is not a state of its variable.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("ill", 0.3); net.add("test", {True: 0.9, False: 0.2}, parents=["ill"])
        >>> tree = net.diagnosis("ill")
        >>> tree.follow({"test": [True, False, None]})["conclusion"].tolist()
        [True, False, False]
        """
        names = {step.question for step, _, _ in _walk(self.root) if step.question is not None}
        held = {}
        for name in sorted(names):
            try:
                held[name] = list(frame[name])
            except KeyError:
                raise UnknownVariable(name, list(frame), where="The columns of the frame") from None
        n = len(frame[next(iter(frame))]) if len(frame) else 0
        conclusions, counts = np.empty(n, dtype=object), np.zeros(n, dtype=np.int64)
        for row in range(n):
            step = self.root
            while step.question is not None and not is_missing(value := held[step.question][row]):
                step = _answered(step, value)
                counts[row] += 1
            conclusions[row] = step.conclusion
        return {"conclusion": conclusions, "questions": counts}

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dicts."""
        return _as_dict(self.root)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each node, in the order of the printed table."""
        rows = []
        for step, asked, said in _walk(self.root):
            best = step.conclusion
            node = {"depth": len(asked), "answer": said, "question": step.question, "conclusion": best}
            rows.append({**node, "probability": step.probability, "share": step.shares[best]})
        frame: pd.DataFrame = pandas().DataFrame(rows)
        return frame

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the tree from left to right; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches.
            title: the title.
        """
        from pgm import plot

        return plot.diagnosis(self, ax, figsize=figsize, title=title)

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows: list[list[str]] = []
        total = 0
        for step, asked, said in _walk(self.root):
            total += 1
            if len(rows) == ROWS:
                continue
            best = step.conclusion
            here = f"{step.question}?" if step.question else f"{label(self.target)}={label(best)}"
            text = f"{'  ' * len(asked)}{said}: {here}" if said else here
            rows.append([text, number(step.probability), f"{number(step.shares[best])} {label(best)}"])
        notes = [f"... {total - len(rows):,} more of {total:,} nodes"] if total > len(rows) else []
        about = f"right with probability {number(self.right)}, after {number(self.questions)} questions"
        spent = f" that cost {self.cost:g}" if self.costs else ""
        given = f" given {condition(self.given_)}" if self.given_ else ""
        return (
            ["question or conclusion", "probability", "P"],
            rows,
            "\n".join([*notes, f"{about}{spent} on average{given}"]),
        )


def _answered(step: DiagnosisStep, value: object) -> DiagnosisStep:
    for state, after in step.answers.items():
        if state == value or str(state) == str(value):
            return after
    raise UnknownState(Variable(str(step.question), tuple(step.answers)), value)


def _walk(root: DiagnosisStep) -> Iterator[tuple[DiagnosisStep, tuple[str, ...], str]]:
    """The nodes, each before those below it, with the questions asked before and the last answer."""
    waiting: list[tuple[DiagnosisStep, tuple[str, ...], str]] = [(root, (), "")]
    while waiting:
        step, asked, said = waiting.pop()
        yield step, asked, said
        if step.question is not None:
            below = (*asked, step.question)
            for state, after in reversed(list(step.answers.items())):
                waiting.append((after, below, condition({step.question: state})))


def _as_dict(step: DiagnosisStep) -> dict[str, Any]:
    found: dict[str, Any] = {"probability": step.probability, "shares": dict(step.shares)}
    if step.question is None:
        return {**found, "stop": step.reason}
    return {**found, "ask": step.question, "answers": {s: _as_dict(a) for s, a in step.answers.items()}}


def _best(
    model: Any, variable: Variable, given: Mapping[str, Any], over: Sequence[str] | None,
    costs: Mapping[frozenset[str], float], sure: float, least: float, spent: Sequence[str] = (),
) -> tuple[str | None, str, float, float, np.ndarray]:  # fmt: skip
    """The best question, or None, and the reason; its gain, its cost, and P(target | given)."""
    cases = Cases(model, variable.name, given, None)
    p = np.zeros(variable.card)
    for event, share in zip(cases.events, cases.p.tolist(), strict=True):
        p[variable.code(event[variable.name])] = share
    if float(p.max()) >= sure:
        state = label(variable.states[int(p.argmax())])
        return None, f"{variable.name}={state} is sure enough: {float(p.max()):.4g}", 0.0, 0.0, p
    left = None if over is None else [name for name in over if name not in given]
    found = gains(model, cases, left) if left is None or left else {}
    before = cost_of(spent, costs)
    prices = {name: cost_of([*spent, name], costs) - before for name in found}

    def rank(name: str) -> float:
        price = prices[name] if costs else 1.0
        return found[name] / price if price > 0.0 else math.inf if found[name] > 0.0 else 0.0

    best = max(found, key=rank, default=None)
    if best is None or found[best] <= 0.0:
        return None, f"no remaining variable is informative about {variable.name}", 0.0, 0.0, p
    if rank(best) <= least:
        unit = " for each unit of cost" if costs else ""
        return (
            None,
            f"the best question, {best}, gains only {found[best]:.3g} nats{unit}",
            found[best],
            prices[best],
            p,
        )
    return best, f"its expected information is {found[best]:.4g} nats", found[best], prices[best], p


def _options(sure: object, least: object) -> tuple[float, float]:
    for value, name, most in ((sure, "sure", 1.0), (least, "least", math.inf)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= most:
            span = "from 0 to 1" if most == 1.0 else "not negative"
            raise InvalidArgument(f"{name}= is a number {span}, not {shown(value)}.")
    return float(sure), float(least)  # type: ignore[arg-type]


def next_question(
    model: Any, target: object, given: Given, over: object, costs: Any, sure: object, least: object
) -> NextQuestion:
    """See `BayesianNetwork.next_question`."""
    variable, known = target_of(model, target, given)
    sure_, least_ = _options(sure, least)
    names = candidates(model, Cases(model, variable.name, known, None), over)
    priced = read_costs(model.variables, costs)
    name, reason, gain, cost, _ = _best(model, variable, known, names, priced, sure_, least_)
    if name is None:
        return NextQuestion(None, reason, gain, cost, {})
    outcomes = {}
    chances = model.query(name, known)
    for state, p in chances.items():
        if p > 0.0:
            after = model.query(variable.name, {**known, name: state})
            outcomes[state] = (p, dict(after.items()))
    return NextQuestion(name, reason, gain, cost, outcomes)


def diagnosis(
    model: Any,
    target: object,
    given: Given,
    over: object,
    costs: Any,
    sure: object,
    least: object,
    depth: object,
) -> Diagnosis:
    """See `BayesianNetwork.diagnosis`."""
    variable, known = target_of(model, target, given)
    sure_, least_ = _options(sure, least)
    most = whole(depth, "depth=", 1)
    cases = Cases(model, variable.name, known, None)
    names, priced = candidates(model, cases, over), read_costs(model.variables, costs)
    clock = start_clock()
    count = 0

    def grow(found: dict[str, Any], probability: float, asked: tuple[str, ...]) -> DiagnosisStep:
        nonlocal count
        clock.check()
        count += 1
        if count > _MOST_NODES:
            raise InvalidArgument(
                f"The tree has more than {_MOST_NODES:,} nodes: lower depth= or sure=, or name fewer "
                "variables in over=."
            )
        best, reason, _, _, p = _best(model, variable, found, names, priced, sure_, least_, asked)
        shares = dict(zip(variable.states, p.tolist(), strict=True))
        if best is None or len(asked) == most:
            return DiagnosisStep(probability, shares, None, reason if best is None else "deep enough", {})
        below = {
            state: grow({**found, best: state}, probability * q, (*asked, best))
            for state, q in model.query(best, found).items()
            if q > 0.0
        }
        return DiagnosisStep(probability, shares, best, reason, below)

    return Diagnosis(variable, known, grow(dict(known), 1.0, ()), priced, cases.report)
