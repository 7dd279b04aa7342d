"""What writers of tables share: what cannot be written, states as text, distributions as tables."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from pgm.config import current
from pgm.cpds.rows import Array
from pgm.cpds.table import TableCPD
from pgm.errors import InvalidArgument, InvalidVariable, listed, shown
from pgm.models import BayesianNetwork
from pgm.variables import Interval, Variable, as_domain

_BYTES_EACH = 64  # what a number takes while it becomes text


def bayesian(model: object, format: str) -> BayesianNetwork:
    """Return the model if it is a complete Bayesian network of variables with states."""
    if not isinstance(model, BayesianNetwork):
        raise InvalidArgument(
            f"{format} holds Bayesian networks, not {shown(model)}; "
            "files that end in .uai hold Markov networks too"
        )
    model._check_complete()
    check_states(model.variables, format)
    return model


def check_states(variables: Mapping[str, Variable], format: str) -> None:
    """Refuse continuous variables."""
    numbers = [variable.name for variable in variables.values() if variable.continuous]
    if numbers:
        raise InvalidArgument(
            f"{format} holds variables with states; these are continuous: {listed(numbers)}."
        )


def tables(
    net: BayesianNetwork, format: str, expand: bool, but: Container[str] = ()
) -> Iterator[tuple[str, Array]]:
    """Yield each variable and its table, but some; with `expand` also of distributions that are no table."""
    budget = current().memory_limit // _BYTES_EACH
    for name in net.variables:
        if name in but:
            continue
        cpd = net.cpd(name)
        if isinstance(cpd, TableCPD):
            yield name, cpd.table()
        elif expand:
            values = cpd.table(budget)
            budget -= values.size
            yield name, values
        else:
            raise InvalidArgument(
                f"{format} has no form for it: {shown(name)} is a {type(cpd).__name__}; "
                "expand=True writes its table"
            )


def states_as_text(variable: Variable, format: str, expand: bool) -> list[str]:
    """Return the states as text, by which they are found again; with `expand` also bins, which are not."""
    texts = [state if isinstance(state, str) else _text(state) for state in variable.states]
    try:
        found = as_domain(texts)
    except InvalidVariable as error:
        raise InvalidArgument(f"{format} holds states as text; {shown(variable.name)}: {error}") from None
    for code, state in enumerate(variable.states):
        if found.find(state) != code and not (expand and isinstance(state, Interval)):
            remedy = (
                "expand=True writes the bins as text"
                if isinstance(state, Interval)
                else "make it text yourself"
            )
            raise InvalidArgument(
                f"{format} holds states as text, and the state {shown(state)} of {shown(variable.name)} "
                f"would not be found again as {shown(texts[code])}; {remedy}"
            )
    return texts


def _text(state: object) -> str:
    try:
        return str(state)
    except Exception:  # a state may be any object; one that cannot be printed will not be found again either
        return shown(state)
