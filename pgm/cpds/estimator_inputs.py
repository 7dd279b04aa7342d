"""Encodes rows of state codes and continuous values as the columns that an estimator was fitted on."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, InvalidTable, listed, nearest, shown
from pgm.variables import Variable

from .estimator_traits import is_fitted
from .table_input import Array

CODINGS = ("states", "values", "codes", "one-hot")
_SAID = {
    "number": "the value",
    "states": "the state",
    "values": "the state, as a number",
    "codes": "the position of the state",
    "one-hot": "a column for each state, 1 in that of the state",
}


@dataclass(frozen=True, eq=False)
class Inputs:
    """How each parent is encoded as columns, in the order of the parents."""

    ways: tuple[str, ...]
    names: tuple[str, ...] | None  # of the columns, where the estimator was fitted on a data frame
    widths: tuple[int, ...]
    looked_up: tuple[Any, ...]  # for each parent an array with a row for each state; None if continuous

    @classmethod
    def of(
        cls, node: str, estimator: Any, given: Sequence[Variable], coding: str | Mapping[str, str] | None
    ) -> Inputs:
        """The encoding that an estimator was fitted on, or the one that is asked for.

        Raises:
            InvalidTable: it was fitted on other columns, or on a different number of them.
            InvalidArgument: there is no such encoding.
        """
        asked = _asked(node, given, coding)
        names = getattr(estimator, "feature_names_in_", None)
        plain = _plain(estimator, given)
        if names is not None:
            return cls._named(node, estimator, given, asked, plain, [str(name) for name in names])
        ways = [asked.get(v.name, way) for v, way in zip(given, plain, strict=True)]
        width = getattr(estimator, "n_features_in_", None)
        if width is None:  # not fitted, or it takes anything
            if _encodes(estimator):  # a pipeline may pick columns by name
                return cls._made(given, ways, _names(given, ways) if not is_fitted(estimator) else None)
            if not asked:
                ways = ["one-hot" if way == "codes" else way for way in ways]
            return cls._made(given, ways, None)
        kind = type(estimator).__name__
        made = cls._made(given, ways, None)
        if sum(made.widths) == width:
            _check_order(node, kind, given, ways, asked, named=False)
            return made
        texts = ["one-hot" if way == "codes" else way for way in ways]  # as pandas.get_dummies encodes
        hot = cls._made(
            given, [w if v.continuous else "one-hot" for v, w in zip(given, ways, strict=True)], None
        )
        for found in (cls._made(given, texts, None), hot):
            if not asked and sum(found.widths) == width:
                _check_order(node, kind, given, found.ways, asked, named=False)
                return found
        raise InvalidTable(
            f"{node!r}: its {kind} was fitted on {_columns(width)}, and "
            f"parents={[v.name for v in given]} make {sum(made.widths)}, or {sum(hot.widths)} with a column "
            "for each state. List the parents that it was fitted on, in that order; coding={name: "
            f"{listed(CODINGS)}}} says how the states of a parent are encoded."
        )

    @classmethod
    def _named(
        cls,
        node: str,
        estimator: Any,
        given: Sequence[Variable],
        asked: Mapping[str, str],
        plain: Sequence[str],
        names: list[str],
    ) -> Inputs:
        """The encoding for an estimator fitted on a data frame: its columns are the parents, in order."""
        ways: list[str] = []
        own: dict[str, list[str]] = {}  # the columns of each parent
        for v, way in zip(given, plain, strict=True):
            hot = [] if v.continuous else list(_names([v], ["one-hot"]))
            one_hot = asked.get(v.name) == "one-hot" or (
                v.name not in asked and v.name not in names and not set(hot).isdisjoint(names)
            )
            ways.append("one-hot" if one_hot else asked.get(v.name, way))
            there = [name for name in names if name in hot]  # perhaps in another order than the states
            own[v.name] = (there if len(there) == len(hot) else hot) if one_hot else [v.name]
        taken = [name for v in given for name in own[v.name]]
        kind = type(estimator).__name__
        if taken == names:
            _check_order(node, kind, given, ways, asked, named=True)
            return cls._made(given, ways, tuple(names))
        if sorted(taken) == sorted(names):
            order = sorted(own, key=lambda name: names.index(own[name][0]))
            if [name for parent in order for name in own[parent]] == names:
                remedy = f"List the parents in the order of its columns: {order}."
            else:
                remedy = "The columns of a parent must be adjacent; fit it on columns in such an order."
            raise InvalidTable(
                f"{node!r}: its {kind} was fitted on the columns {listed(names)}, in this order, not in "
                f"that of parents={[v.name for v in given]}. {remedy}"
            )
        missing = [name for name in names if name not in taken]
        extra = [name for name in taken if name not in names]
        what = f"no parent is {listed(missing)}" if missing else f"{listed(extra)} is not one of them"
        hint = nearest(missing[0], extra) if missing and extra else ""
        raise InvalidTable(
            f"{node!r}: its {kind} was fitted on the columns {listed(names)}, and {what}.{hint} Its parents "
            f"are its columns, by name and in their order; here they are {[v.name for v in given]}."
        )

    @classmethod
    def _made(cls, given: Sequence[Variable], ways: Sequence[str], names: tuple[str, ...] | None) -> Inputs:
        looked_up: list[Any] = []
        at = 0
        for v, way in zip(given, ways, strict=True):
            own = _names([v], [way])
            columns, at = own if names is None else names[at : at + len(own)], at + len(own)
            if v.continuous:
                looked_up.append(None)
            elif way == "one-hot":
                looked_up.append(np.array([[float(state == column) for column in columns] for state in own]))
            elif way == "codes":
                looked_up.append(np.arange(v.card, dtype=np.float64)[:, None])
            elif way == "values":
                looked_up.append(np.array([[float(state)] for state in v.states]))
            else:
                looked_up.append(v.domain.array)
        widths = [v.card if way == "one-hot" else 1 for v, way in zip(given, ways, strict=True)]
        return cls(tuple(ways), names, tuple(widths), tuple(looked_up))

    @property
    def plain(self) -> bool:
        """Whether all parents are continuous, and passed as they are."""
        return all(way == "number" for way in self.ways)

    def matrix(self, columns: Sequence[Array]) -> Any:
        """Rows as the estimator takes them.

        Args:
            columns: for each parent the codes of its states, or its values if it is continuous.
        """
        if "states" in self.ways:
            return self._of_states(columns)
        made = np.empty((len(columns[0]), sum(self.widths)), order="F")
        at = 0
        for column, width, table in zip(columns, self.widths, self.looked_up, strict=True):
            made[:, at : at + width] = column[:, None] if table is None else table[column.astype(np.int64)]
            at += width
        return self.named(made)

    def named(self, made: Array) -> Any:
        """A matrix with the names of its columns, if the estimator knows these."""
        if self.names is None:
            return made
        frames = _pandas()
        return made if frames is None else frames.DataFrame(made, columns=_labels(self.names), copy=False)

    def _of_states(self, columns: Sequence[Array]) -> Any:
        names, found = iter(self.names or range(sum(self.widths))), {}
        for column, width, table in zip(columns, self.widths, self.looked_up, strict=True):
            values = column if table is None else table[column.astype(np.int64)]
            for i in range(width):
                found[next(names)] = values if values.ndim == 1 else values[:, i]
        frames = _pandas()
        if frames is not None and (self.names is not None):
            return frames.DataFrame(found, copy=False)
        made = np.empty((len(next(iter(found.values()))), len(found)), object)
        for i, values in enumerate(found.values()):
            made[:, i] = values
        return made

    def lines(self, given: Sequence[Variable]) -> list[tuple[str, str]]:
        """Each parent, and how it is encoded."""
        return [(v.name, _SAID[way]) for v, way in zip(given, self.ways, strict=True)]


def _asked(node: str, given: Sequence[Variable], coding: str | Mapping[str, str] | None) -> dict[str, str]:
    """The requested encoding of discrete parents."""
    if coding is None:
        return {}
    states = [v.name for v in given if not v.continuous]
    if isinstance(coding, str) and coding not in CODINGS:
        raise InvalidArgument(
            f"{node!r}: coding= is one of {listed(CODINGS)}, not {shown(coding)}.{nearest(coding, CODINGS)}"
        )
    found = dict.fromkeys(states, coding) if isinstance(coding, str) else coding
    if not isinstance(found, Mapping):
        raise InvalidArgument(
            f"{node!r}: coding= is one of {listed(CODINGS)}, or {{parent: one}}, not {shown(coding)}."
        )
    for name, way in found.items():
        if name not in states:
            raise InvalidArgument(
                f"{node!r}: coding= is about discrete parents, {listed(states) or 'of which there are none'}"
                f", not {shown(name)}."
            )
        if way not in CODINGS:
            raise InvalidArgument(
                f"{node!r}: coding= is one of {listed(CODINGS)}, not {shown(way)}.{nearest(way, CODINGS)}"
            )
        v = next(v for v in given if v.name == name)
        if way == "values" and not _numeric(v):
            raise InvalidArgument(f"{node!r}: the states of {name!r} are not numbers: {listed(v.states)}.")
    return dict(found)


def _check_order(
    node: str,
    kind: str,
    given: Sequence[Variable],
    ways: Sequence[str],
    asked: Mapping[str, str],
    *,
    named: bool,
) -> None:
    """Refuse an encoding that depends on the order of states, where an encoder would have sorted them."""
    for v, way in zip(given, ways, strict=True):
        if (way != "codes" and (way != "one-hot" or named)) or v.name in asked:
            continue
        if v.states is None or _numeric(v) or list(v.states) == sorted(v.states, key=str):
            continue
        what, which = ("a code", "code") if way == "codes" else ("a column for each state", "column")
        raise InvalidTable(
            f"{node!r}: its {kind} was fitted on {what} of {v.name!r}, and which {which} is which state is "
            f"unknown: here they are in the order {listed(v.states)}; scikit-learn's encoders sort them. If "
            f"it was fitted on this order, say so: coding={{{v.name!r}: {way!r}}}; else put the encoder in a "
            "pipeline with it."
        )


def _plain(estimator: Any, given: Sequence[Variable]) -> list[str]:
    """The default encoding of parents."""
    encodes = _encodes(estimator)
    return [
        "number" if v.continuous else "states" if encodes else "values" if _numeric(v) else "codes"
        for v in given
    ]


def _numeric(v: Variable) -> bool:
    return all(isinstance(state, bool | int | float) for state in v.states)


def _encodes(estimator: Any) -> bool:
    """Whether an estimator takes states as they are: a pipeline has its own encoder."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    seen: set[int] = set()
    queue = [estimator]
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Pipeline | ColumnTransformer) or getattr(one, "takes_states", False):
            return True
        queue += [getattr(one, name, None) for name in ("best_estimator_", "estimator", "estimator_")]
    return False


def _names(given: Sequence[Variable], ways: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns, those of states as pandas.get_dummies gives them."""
    made: list[str] = []
    for v, way in zip(given, ways, strict=True):
        made += [f"{v.name}_{state}" for state in v.states] if way == "one-hot" else [v.name]
    return tuple(made)


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"


@functools.lru_cache(maxsize=64)
def _labels(names: tuple[str, ...]) -> Any:
    """The column names as a pandas Index, cached so that it is not made again for each frame."""
    return _pandas().Index(names)


def _pandas() -> Any:
    """The data frame library in which estimators know columns by name, if it is installed."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas
