"""Turns what a user passes to `add` or `set` into a local distribution."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pgm.distributions import Categorical, Gaussian
from pgm.errors import InvalidArgument, InvalidTable
from pgm.frames import is_frame, long_form
from pgm.variables import Domain, Variable

from .base import CPD
from .density_cpd import DensityCPD
from .linear_gaussian import LinearGaussian
from .registry import for_parents
from .table import TableCPD
from .table_input import CELLS, child_states, read


def prepared(name: str, table: object, parents: Any) -> tuple[object, Any]:
    """Return a table as written, and its parents; distributions of pgm/distributions become local ones.

    A dict of linear Gaussians, one for each state of discrete parents, becomes one with all the parents.
    """
    if isinstance(table, Gaussian):
        return LinearGaussian.of(table), parents
    if isinstance(table, DensityCPD):
        return table.among(parents), parents
    if isinstance(table, Categorical):
        if table.n_states is not None:
            raise InvalidTable(
                f"{name!r}: this Categorical has a row for each of several states; give one row."
            )
        return dict(zip(table.symbols, table.p.tolist(), strict=True)), parents
    if not isinstance(table, Mapping) or not any(
        isinstance(row, LinearGaussian | Gaussian) for row in table.values()
    ):
        return table, parents
    listing = (parents,) if isinstance(parents, str) else tuple(parents or ())
    if (
        not listing
        or isinstance(parents, Mapping | AbstractSet)
        or not all(isinstance(p, str) for p in listing)
    ):
        raise InvalidTable(f"{name!r}: a dict of densities needs parents=[...], whose states are its keys.")
    weighted = {cause for row in table.values() if isinstance(row, LinearGaussian) for cause in row.parents}
    made = LinearGaussian.select(name, table, [p for p in listing if p not in weighted])
    return made, made.parents


def make(
    name: str, table: object, states: Any, given: tuple[Variable, ...], normalize: bool | None = None
) -> CPD:
    """Return P(name | given); states None: not declared; `normalize` as for `read`."""
    table = for_parents(table, given)
    if normalize and isinstance(table, CPD):
        kind = type(table).__name__
        raise InvalidArgument(f"{name!r}: normalize= divides the rows of a written table, not of a {kind}.")
    if not (isinstance(table, CPD) and table.takes_continuous):
        for parent in given:
            if parent.continuous:
                raise InvalidTable(
                    f"{name!r} has states and cannot have the continuous parent {parent.name!r} in this "
                    f"way: model its log odds with pgm.Logistic({{{parent.name!r}: ...}}), reverse "
                    f"the arrow, or cut {parent.name!r} into states with pgm.Bins and give it "
                    "a table."
                )
    if isinstance(table, CPD):
        return table.bind(name, states, given)
    if is_frame(table):
        table = long_form(repr(name), table, CELLS, name)
    if states is None:
        states = child_states(name, table, len(given))
    child = Variable.of(name, states) if type(states) is Domain else Variable(name, states)
    return TableCPD.trusted(child, given, read(child, given, table, normalize))
