"""The actions of a policy: in one case, and in each row of a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pgm.errors import ImpossibleEvidence, InvalidEvidence, InvalidFrame, listed, nearest, shown
from pgm.evidence import Observed, observe
from pgm.frames import Alike, Columns, columns, names_of
from pgm.results.base import condition
from pgm.variables import Variable

if TYPE_CHECKING:
    from .policy import Policy
    from .rule import Rule


def allows(past: Observed, name: str, code: int) -> bool:
    """Tell whether a state may be what was given about its variable.

    Args:
        past: what was given.
        name: a variable.
        code: of one of its states.

    >>> wet = Variable("wet", [False, True])
    >>> allows(observe({"wet": wet}, {"wet": True}), "wet", 0)
    False
    """
    if name in past.hard:
        return past.hard[name] == code
    return all(weights[code] > 0.0 for weights in past.weights.get(name, ()))


def decided(policy: Policy, decision: str, given: Mapping[str, Any] | None) -> Any:
    """See `Policy.decide`."""
    rule, diagram = policy[decision], policy._diagram
    if given is not None and not isinstance(given, Mapping):
        raise InvalidEvidence(f"What is known is a dict {{name: state}}, not {shown(given)}.")
    now, past = observe(diagram.variables, given), observe(diagram.variables, policy.given)
    there = {*diagram.known(decision), *past.given}
    for name in now.given:
        if name not in there:
            raise InvalidEvidence(
                f"{name!r} is not known when {decision!r} is decided: let the decision observe it, or give "
                "it to `solve`."
            )
    for name, code in now.hard.items():
        if not allows(past, name, code):
            case = {name: now.given[name]}
            before = condition({name: policy.given[name]})
            raise ImpossibleEvidence(f"{condition(case)} contradicts the past, {before}.", case)
    return rule.act({v.name: v.states[now.hard[v.name]] for v in rule.given if v.name in now.hard})


def predicted(policy: Policy, frame: Any, decision: str, bad_rows: str) -> Any:
    """See `Policy.predict`."""
    rule, variables = policy[decision], policy._diagram.variables
    past = observe(variables, policy.given)
    wanted = dict.fromkeys([*[v.name for v in rule.given], *past.given])
    data = columns(frame, {name: variables[name] for name in wanted}, bad=bad_rows)
    place, absent, never = np.zeros(data.n_rows, np.int64), data.bad.copy(), np.zeros(data.n_rows, bool)
    for variable in rule.given:
        if variable.name not in data.codes:
            written = [name for name in names_of(frame) if isinstance(name, str)]
            raise InvalidFrame(
                f"What to do at {decision!r} depends on {variable.name!r}, and the frame has no such column; "
                f"it has {listed(written)}.{nearest(variable.name, written)}"
            )
        codes = data.codes[variable.name]
        absent |= codes < 0
        place = place * variable.card + np.maximum(codes, 0)
    for name in past.given:
        if name in data.codes:
            fits = [allows(past, name, code) for code in range(variables[name].card)]
            never |= ~np.array([*fits, True])[data.codes[name]]  # the last is for what is missing
    actions = rule.actions.ravel()[place]
    never |= actions < 0
    if bad_rows == "raise" and (absent | never).any():
        _refuse(rule, variables, data, absent, never)
    actions[absent | never] = -1
    return Alike(frame, variables).column(decision, actions)


def _refuse(
    rule: Rule, variables: Mapping[str, Variable], data: Columns, absent: np.ndarray, never: np.ndarray
) -> NoReturn:
    """Raise for the first row that has no advice."""
    wrong = absent | never
    row, more = int(wrong.argmax()), int(wrong.sum()) - 1
    where = f"Row {row:,} (the first is 0)" + (f", and {more:,} more" if more else "")
    decision, remedy = rule.decision.name, 'bad_rows="missing" gives None there.'
    if absent[row]:
        name = next(v.name for v in rule.given if data.codes[v.name][row] < 0)
        raise InvalidEvidence(
            f"{where}: what to do at {decision!r} depends on {name!r}, which is missing; {remedy}"
        )
    case = {name: variables[name].states[c[row]] for name, c in data.codes.items() if c[row] >= 0}
    raise ImpossibleEvidence(
        f"{where}: {condition(case)} cannot happen when {decision!r} is decided; {remedy}", case
    )


def codes_of(variable: Variable, column: np.ndarray) -> np.ndarray:
    """Return a column of states as codes.

    Args:
        variable: whose states they are.
        column: the states.
    """
    place = {state: code for code, state in enumerate(variable.states)}
    return np.array([place[state] for state in column.tolist()], dtype=np.int64)
