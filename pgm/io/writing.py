"""What writers of tables share: refusals, states as text, distributions as tables."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import product

from pgm.config import current
from pgm.cpds import CPD
from pgm.cpds.table_input import Array, check_cells
from pgm.errors import InvalidArgument, InvalidVariable, listed, shown
from pgm.models import BayesianNetwork
from pgm.runtime.progress import each
from pgm.variables import Interval, Variable, as_domain

FARTHEST = 10**9 - 1  # largest coordinate in a picture
_LISTED = 10  # nodes in a message
_BYTES_EACH = 64  # memory of a number while it is turned into text


def bayesian(model: object, format: str, *, continuous: bool = False) -> BayesianNetwork:
    """Return the model if it is a complete Bayesian network, of variables with states unless `continuous`."""
    if not isinstance(model, BayesianNetwork):
        raise InvalidArgument(
            f"{format} holds Bayesian networks, not {shown(model)}; files that end in .uai hold Markov "
            "networks too, those that end in .json all models."
        )
    model._check_complete()
    if not continuous:
        check_states(model.variables, format)
    return model


def check_states(variables: Mapping[str, Variable], format: str) -> None:
    """Raise if there are continuous variables."""
    found = [variable.name for variable in variables.values() if variable.continuous]
    if found:
        raise InvalidArgument(f"{format} holds discrete variables; these are continuous: {listed(found)}.")


def tables(
    net: BayesianNetwork, format: str, expand: bool, but: Container[str] = ()
) -> Iterator[tuple[str, Array]]:
    """Yield each variable and its table, except some; with `expand`, also tables of other distributions."""
    budget = current().memory_limit // _BYTES_EACH
    _check_forms(net, format, expand, but)
    for name in each(net.variables, "writing"):
        if name in but:
            continue
        cpd = net.cpd(name)
        if cpd.kind == "table":
            yield name, cpd.table()
        else:
            if cpd.listed_rows() is not None:
                shape = [*(v.card for v in cpd.given), cpd.child.card]
                remedy = f"{format} holds no default rows, which BIF, DSC and JSON do"
                check_cells(shape, f"{shown(name)}: its table", remedy, budget)
            values = cpd.table(budget)
            budget -= values.size
            yield name, values


def _check_forms(net: BayesianNetwork, format: str, expand: bool, but: Container[str]) -> None:
    """Raise, in one error, for all that have no table, or are not tables and are not to be expanded."""
    found = []
    for name in net.variables:
        if name in but:
            continue
        reals = [parent for parent in net.parents(name) if net.variables[parent].continuous]
        if reals:  # no table has a continuous parent
            raise InvalidArgument(
                f"{format} has no form for it: {shown(name)} depends on {listed(reals)}, continuous, and "
                'has no table. A JSON file holds it: format="json".'
            )
        cpd = net.cpd(name)
        if not expand and cpd.kind != "table" and cpd.listed_rows() is None:
            found.append(f"{shown(name)} is {cpd.called}")
    if found:
        which, whose = ("it", "its table") if len(found) == 1 else ("them", "their tables")
        some = ", ".join(found[:_LISTED])
        more = f", and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
        raise InvalidArgument(f"{format} has no form for {which}: {some}{more}; expand=True writes {whose}")


def listings(net: BayesianNetwork, format: str, expand: bool) -> Iterator[tuple[str, Array, Array | None]]:
    """Yield each variable, its rows, and the row of all configurations without one, if there are any."""
    compact = {name for name in net.variables if net.cpd(name).listed_rows() is not None}
    others = tables(net, format, expand, compact)
    for name in net.variables:
        listing = net.cpd(name).listed_rows()
        if listing is not None:
            yield name, *listing[1:]
        else:
            _, values = next(others)
            yield name, values.reshape(-1, values.shape[-1]), None


def keys(cpd: CPD, texts: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
    """Return the configurations of `listings` in these words for the parents' states."""
    listing = cpd.listed_rows()
    if listing is not None:
        return [[own[code] for own, code in zip(texts, at, strict=True)] for at in listing[0].tolist()]
    return product(*texts)


def captions(net: BayesianNetwork, more: Container[str] = ()) -> dict[str, str]:
    """Return the captions of nodes in pictures, where known; those of utilities, too, if there are more."""
    for name, text in net.captions.items():
        if not isinstance(text, str):
            raise InvalidArgument(f"The caption of {shown(name)} is text, not {shown(text)}.")
    return {name: text for name, text in net.captions.items() if name in net or name in more}


def positions(net: BayesianNetwork, more: Container[str] = ()) -> dict[str, tuple[int, int, int, int]]:
    """Return the positions of nodes in pictures, where known; those of utilities, too, if there are more."""
    for name, place in net.positions.items():
        if (
            not isinstance(place, tuple)
            or [type(x) for x in place] != [int] * 4
            or not all(abs(x) <= FARTHEST for x in place)
        ):
            raise InvalidArgument(
                f"The position of {shown(name)} is (left, top, right, bottom) in whole numbers of up to nine "
                f"digits, not {shown(place)}."
            )
    return {name: place for name, place in net.positions.items() if name in net or name in more}


def states_as_text(variable: Variable, format: str, expand: bool) -> list[str]:
    """Return the states as text that can be looked up again; with `expand` also bins, which cannot."""
    texts = [state if isinstance(state, str) else str(state) for state in variable.states]
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
