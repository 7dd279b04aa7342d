"""The expected utility of any policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, TableCPD, make
from pgm.cpds.table_input import BadRow, check_cells, find_row, row_label, sentence
from pgm.errors import InvalidArgument, InvalidTable, UnknownVariable, listed, shown
from pgm.evidence import Observed, observe
from pgm.results.base import condition, pandas, put
from pgm.results.report import EXACT, Report
from pgm.results.scalars import ExpectedUtility
from pgm.variables import Variable

from .advice import as_cpd, certain
from .advising import allows
from .policy import Policy
from .solving import refuse, solved
from .tables import expected

if TYPE_CHECKING:
    from .influence_diagram import InfluenceDiagram


class Evaluation(ExpectedUtility):
    """The expected utility of a policy; `.loses` is its loss compared to the optimal one.

    >>> Evaluation(4.0, 6.5).loses
    2.5
    """

    __slots__ = ("best",)
    best: float

    def __new__(cls, value: float, best: float, report: Report = EXACT) -> Evaluation:
        """Store the value of the policy, and the optimal one."""
        self = super().__new__(cls, value, report)
        assert isinstance(self, Evaluation)
        put(self, "best", float(best))
        return self

    @property
    def loses(self) -> float:
        """The loss compared to the optimal policy."""
        return max(self.best - float(self), 0.0)

    def to_dict(self) -> dict[str, float]:
        """{"utility": the value, "best": that of the best policy, "loses": the difference}."""
        return {"utility": float(self), "best": self.best, "loses": self.loses}

    def _parts(self) -> tuple[object, ...]:
        return float(self), self.best, self.report


def evaluated(
    diagram: InfluenceDiagram, rules: Mapping[str, Any] | Policy, given: Mapping[str, Any] | None
) -> Evaluation:
    """See `InfluenceDiagram.evaluate`."""
    diagram._check_complete()
    observed = observe(diagram.variables, given)
    refuse(diagram, observed)
    waiting = [name for name in diagram.decisions if name not in observed.given]
    value, _ = expected(diagram, _as_rules(diagram, rules, waiting, observed), given)
    return Evaluation(float(value), float(solved(diagram, given).expected_utility))


def _as_rules(
    diagram: InfluenceDiagram, rules: Mapping[str, Any] | Policy, waiting: list[str], observed: Observed
) -> dict[str, CPD]:
    """The distribution of each open decision."""
    if isinstance(rules, Policy):
        if list(rules.decisions) != waiting or any(
            diagram.variables.get(name) != rules._diagram.variables.get(name) for name in waiting
        ):
            raise InvalidArgument(
                f"This policy is of another diagram: its decisions are {listed(rules.decisions)}, and here "
                f"{listed(waiting)} are open."
            )
        for name in waiting:
            there = {*diagram.known(name), *rules.given}
            for variable in rules._advice[name].given:
                if variable.name not in there or diagram.variables.get(variable.name) != variable:
                    raise InvalidArgument(
                        f"This policy is of another diagram: at {name!r} it depends on {variable.name!r}, "
                        "which is not known here, or has other states."
                    )
        made = {name: as_cpd(rules._advice[name]) for name in waiting}
        for cpd in made.values():
            _check_allowed(diagram, cpd, observed)
        return made
    if not isinstance(rules, Mapping):
        raise InvalidArgument(f"A policy is a dict {{decision: rule}}, not {shown(rules)}.")
    for name in rules:
        diagram._decision(name)
        if name not in waiting:
            raise InvalidArgument(f"{name!r} is given: it needs no rule.")
    if absent := [name for name in waiting if name not in rules]:
        raise InvalidArgument(f"There is no rule for {listed(absent)}.")
    made = {}
    for name in waiting:
        made[name] = _as_cpd(diagram, name, rules[name])
        _check_allowed(diagram, made[name], observed)
    return made


def _as_cpd(diagram: InfluenceDiagram, name: str, rule: Any) -> CPD:
    variable = diagram.variables[name]
    given = tuple([diagram.variables[seen] for seen in diagram.parents(name)])
    if callable(rule) and not isinstance(rule, CPD):
        return _of_function(diagram, variable, rule)
    if hasattr(rule, "predict") and not isinstance(rule, type):
        return _of_classifier(diagram, variable, rule)
    try:
        code = variable.domain.find(rule)
    except TypeError:
        code = -1
    if code >= 0:
        values = np.zeros(variable.card)
        values[code] = 1.0
        return _table(variable, (), values)
    if isinstance(rule, Mapping) and given and all(_is_state(variable, action) for action in rule.values()):
        return _of_rows(variable, given, rule)
    if isinstance(rule, CPD):
        there = diagram.known(name)
        for parent in rule.parents:
            if parent not in there:
                raise UnknownVariable(parent, there, where=f"What is known when {name!r} is decided")
        given = tuple([diagram.variables[parent] for parent in rule.parents])
    return make(name, rule, variable.domain, given)


def _is_state(variable: Variable, action: Any) -> bool:
    try:
        return variable.domain.find(action) >= 0
    except TypeError:
        return False


def _of_rows(variable: Variable, given: tuple[Variable, ...], rule: Mapping[Any, Any]) -> CPD:
    codes = np.full([v.card for v in given], -1)
    if ... in rule:
        codes[:] = variable.code(rule[...])
    for key, action in rule.items():
        if key is ...:
            continue
        try:
            codes[find_row(given, key)] = variable.code(action)
        except BadRow as bad:
            raise InvalidTable(
                f"The rule of {variable.name!r}, row {shown(key)}: {sentence(str(bad))}"
            ) from None
    if (codes < 0).any():
        row = row_label(given, np.argwhere(codes < 0)[0])
        raise InvalidTable(
            f"The rule of {variable.name!r} has no action for {row}; the key `...` stands for all rows left "
            "out."
        )
    return certain(variable, given, codes)


def _of_function(diagram: InfluenceDiagram, variable: Variable, rule: Callable[..., Any]) -> CPD:
    there = diagram.known(variable.name)
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        named = list(there)
    for name in named:
        if name not in there:
            where = f"What is known when {variable.name!r} is decided"
            raise UnknownVariable(name, there, where=where)
    given = tuple([diagram.variables[name] for name in named])
    shape = [v.card for v in given]
    check_cells([*shape, variable.card], f"The rule of {variable.name!r}", "let it depend on less")
    codes = np.empty(shape, dtype=np.int64)
    for at, states in zip(np.ndindex(*shape), product(*[v.states for v in given]), strict=True):
        case = dict(zip(named, states, strict=True))
        try:
            action = rule(**case)
        except Exception as error:
            raise InvalidArgument(
                f"The rule of {variable.name!r} failed for {condition(case) or 'no arguments'}: "
                f"{type(error).__name__}: {error}."
            ) from error
        codes[at] = variable.code(action)
    return certain(variable, given, codes)


def _of_classifier(diagram: InfluenceDiagram, variable: Variable, rule: Any) -> CPD:
    """The rule of a fitted classifier: what it predicts in each case of its features, in their order."""
    there = diagram.known(variable.name)
    named = getattr(rule, "feature_names_in_", None)
    features = list(diagram.parents(variable.name)) if named is None else [str(name) for name in named]
    for name in features:
        if name not in there:
            raise UnknownVariable(name, there, where=f"What is known when {variable.name!r} is decided")
    given = tuple([diagram.variables[name] for name in features])
    shape = [v.card for v in given]
    check_cells([*shape, variable.card], f"The rule of {variable.name!r}", "let it depend on less")
    frame = pandas().DataFrame(list(product(*[v.states for v in given])), columns=features)
    try:
        actions = np.asarray(rule.predict(frame if named is not None else frame.to_numpy())).tolist()
    except Exception as error:
        raise InvalidArgument(
            f"The classifier of {variable.name!r} failed on the cases of {listed(features)}: "
            f"{type(error).__name__}: {error}."
        ) from error
    if not isinstance(actions, list) or len(actions) != len(frame):
        raise InvalidArgument(f"The classifier of {variable.name!r} gives no action for each of its cases.")
    return certain(variable, given, np.reshape([variable.code(action) for action in actions], shape))


def _table(variable: Variable, given: tuple[Variable, ...], values: np.ndarray) -> CPD:
    values.flags.writeable = False
    return TableCPD.trusted(variable, given, values)


def _check_allowed(diagram: InfluenceDiagram, cpd: CPD, observed: Observed) -> None:
    """Refuse a rule that may take an action which is not allowed; what was given rules out the other rows."""
    name = cpd.child.name
    one = diagram._decisions[name]
    if one.allowed is None:
        return
    known = tuple(dict.fromkeys((*one.allowed_given, *cpd.parents)))
    variables = [diagram.variables[v] for v in known]
    check_cells(
        [*[v.card for v in variables], cpd.child.card], f"The rule of {name!r}", "let it depend on less"
    )
    table = cpd.table()
    spread = table.transpose([*[cpd.parents.index(v) for v in known if v in cpd.parents], table.ndim - 1])
    spread = spread.reshape([*[v.card if v.name in cpd.parents else 1 for v in variables], cpd.child.card])
    mask = one.allowed.transpose([*[one.allowed_given.index(v) for v in known if v in one.allowed_given], -1])
    mask = mask.reshape([*[v.card if v.name in one.allowed_given else 1 for v in variables], cpd.child.card])
    wrong = (spread > 0.0) & ~mask
    for axis, v in enumerate(variables):
        there = [allows(observed, v.name, code) for code in range(v.card)]
        wrong = wrong & np.reshape(there, [-1 if i == axis else 1 for i in range(wrong.ndim)])
    bad = np.argwhere(wrong)
    if len(bad):
        *at, action = bad[0].tolist()
        row = row_label(variables, at)
        where = f" at {row}" if row else ""
        raise InvalidTable(
            f"The rule of {name!r} takes {shown(cpd.child.states[action])}{where}, which is not allowed "
            "there."
        )
