"""Composing hidden Markov models: one after the other, one of several, again and again, by a grammar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.distributions import Emission
from pgm.errors import InvalidArgument, InvalidTable, listed, shown

from .chain_tables import CERTAIN, Key
from .checks import probabilities
from .composed_hmm import END, START, ComposedHMM, Places

_ROUNDING = 1e-6
_Arc = tuple[int, int, Key | None, int]  # from, to, a table or None, the entry of it


@guarded
def part_of(
    name: str, emission: Any, *, stay: float = 0.5, initial: Any = None, transition: Any = None
) -> ComposedHMM:
    """Return a part that emits, such as a phone, to be composed with others.

    Args:
        name: what it is called; parts of the same name are one part, and are learned together.
        emission: what its states emit, a row for each.
        stay: P(a state is followed by itself), where the states follow one another in order.
        initial: the probabilities of its first state; if left out, it starts in state 0.
        transition: instead of `stay`, for each state the probabilities of the next one; rows may sum to less
            than one: what is left is the end of the part.

    Raises:
        InvalidArgument: the name is not text, or the emission has no parameters.
        InvalidTable: probabilities are negative, or sum to more than one.

    >>> import pgm
    >>> a = part_of("a", pgm.Categorical([[0.9, 0.1], [0.5, 0.5]]), stay=0.6)
    >>> a.states, a.end.tolist()
    ((('a', 0), ('a', 1)), [0.0, 0.4])
    """
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"The name of a part is text, and not empty; not {shown(name)}.")
    if not isinstance(emission, Emission) or not emission.has_parameters:
        raise InvalidArgument(
            f"The emission of a part is a distribution with parameters, a row for each state, not "
            f"{shown(emission)}."
        )
    k = emission.n_states or 1
    first = np.eye(1, k)[0] if initial is None else probabilities(initial, "initial=")
    if first.shape != (k,) or (first < 0).any() or abs(first.sum() - 1.0) > _ROUNDING:
        raise InvalidTable(f"initial= has {k} probabilities that sum to one, not {shown(initial)}.")
    if transition is None:
        if isinstance(stay, bool) or not isinstance(stay, int | float) or not 0.0 <= stay < 1.0:
            raise InvalidArgument(f"stay= is a probability below one, not {shown(stay)}.")
        rows = np.eye(k, k + 1) * stay + np.eye(k, k + 1, 1) * (1.0 - stay)
    else:
        rows = _with_end(probabilities(transition, "transition="), k, "transition=")
    arcs: list[_Arc] = [(START, 2 + i, ("initial", name), i) for i in range(k) if first[i] > 0]
    for i, j in np.argwhere(rows > 0).tolist():
        arcs.append((2 + i, END if j == k else 2 + j, ("transition", name), i * (k + 1) + j))
    labels = ((), (), *((name, i) for i in range(k)))
    places = _places(labels, (("", -1), ("", -1), *((name, i) for i in range(k))), arcs)
    tables = {("initial", name): first / first.sum(), ("transition", name): rows}
    return ComposedHMM._of(places, tables, {name: emission}, name)


@guarded
def sequence_of(*parts: ComposedHMM, name: str = "") -> ComposedHMM:
    """Return parts one after the other, as phones make a word.

    Args:
        parts: in their order; a part may occur several times.
        name: what the whole is called; labels of its states begin with it.

    Raises:
        InvalidArgument: there is no part, or two different parts share a name.

    >>> import pgm
    >>> a = pgm.part_of("a", pgm.Categorical([[0.9, 0.1]]))
    >>> sequence_of(a, a, name="aa").states
    (('aa', 'a', 0, '#0'), ('aa', 'a', 0, '#1'))
    """
    at = _offsets(parts)
    arcs: list[_Arc] = []
    arcs.append((START, at[0] + START, None, CERTAIN))
    for i in range(len(parts) - 1):
        arcs.append((at[i] + END, at[i + 1] + START, None, CERTAIN))
    arcs.append((at[-1] + END, END, None, CERTAIN))
    return _joined(parts, arcs, {}, name, " ".join(part.name for part in parts))


@guarded
def choice_of(parts: Any, weights: Any = None, *, name: str = "") -> ComposedHMM:
    """Return one of several parts, as a word may be pronounced in several ways.

    Args:
        parts: a list of them.
        weights: the probability of each; equal if left out.
        name: what the whole is called; labels of its states begin with it.

    Raises:
        InvalidArgument: there is no part, or two different parts share a name.
        InvalidTable: weights do not sum to one.

    >>> import pgm
    >>> a, b = (pgm.part_of(name, pgm.Categorical([[p, 1 - p]])) for name, p in [("a", 0.9), ("b", 0.2)])
    >>> choice_of([a, b], [0.7, 0.3]).initial.tolist()
    [0.7, 0.3]
    """
    if not isinstance(parts, list | tuple):
        raise InvalidArgument(f"choice_of takes a list of parts, not {shown(parts)}.")
    at, n = _offsets(parts), len(parts)
    share = np.full(n, 1.0 / n) if weights is None else probabilities(weights, "weights=")
    if share.shape != (n,) or (share < 0).any() or abs(share.sum() - 1.0) > _ROUNDING:
        raise InvalidTable(f"weights= has {n} probabilities that sum to one, not {shown(weights)}.")
    called = name or f"({' | '.join(part.name for part in parts)})"
    arcs: list[_Arc] = [(START, at[i] + START, ("choice", called), i) for i in range(n) if share[i] > 0]
    arcs += [(at[i] + END, END, None, CERTAIN) for i in range(n)]
    return _joined(parts, arcs, {("choice", called): share / share.sum()}, name, called)


@guarded
def loop_of(part: ComposedHMM, again: float = 0.5, *, name: str = "") -> ComposedHMM:
    """Return a part once, or again and again, as words make a sentence.

    Args:
        part: what is repeated.
        again: P(it is repeated once more), each time.
        name: what the whole is called; labels of its states begin with it.

    Raises:
        InvalidArgument: `again` is not a probability below one.

    >>> import pgm
    >>> a = pgm.part_of("a", pgm.Categorical([[0.9, 0.1]]), stay=0.5)
    >>> loop_of(a, again=0.2).transition.tolist(), loop_of(a, again=0.2).end.tolist()
    ([[0.6]], [0.4])
    """
    if isinstance(again, bool) or not isinstance(again, int | float) or not 0.0 <= again < 1.0:
        raise InvalidArgument(f"again= is a probability below one, not {shown(again)}.")
    (at,) = _offsets([part])
    called = name or f"{part.name}*"
    key = ("again", called)
    arcs: list[_Arc] = [(START, at + START, None, CERTAIN), (at + END, END, key, 1)]
    if again > 0:
        arcs.append((at + END, at + START, key, 0))
    return _joined([part], arcs, {key: np.array([again, 1.0 - again])}, name, called)


@guarded
def grammar_of(parts: Any, initial: Any, transition: Any, *, name: str = "") -> ComposedHMM:
    """Return parts that follow one another by a Markov chain, such as words by a bigram.

    Args:
        parts: a list of them.
        initial: the probabilities of the first one.
        transition: for each the probabilities of the next one. Rows may sum to less than one: what is left is
            the end. If all sum to one, a sequence may end after any part, and its end is taken as given.
        name: what the whole is called; labels of its states begin with it.

    Raises:
        InvalidArgument: there is no part, or two different parts share a name.
        InvalidTable: probabilities do not sum to one.

    >>> import pgm
    >>> a, b = (pgm.part_of(name, pgm.Categorical([[p, 1 - p]])) for name, p in [("a", 0.9), ("b", 0.2)])
    >>> grammar_of([a, b], [0.6, 0.4], [[0.3, 0.7], [0.8, 0.2]]).transition.round(6).tolist()
    [[0.65, 0.35], [0.4, 0.6]]
    """
    if not isinstance(parts, list | tuple):
        raise InvalidArgument(f"grammar_of takes a list of parts, not {shown(parts)}.")
    at, n = _offsets(parts), len(parts)
    first = probabilities(initial, "initial=")
    if first.shape != (n,) or (first < 0).any() or abs(first.sum() - 1.0) > _ROUNDING:
        raise InvalidTable(f"initial= has {n} probabilities that sum to one, not {shown(initial)}.")
    rows = _with_end(probabilities(transition, "transition="), n, "transition=")
    anywhere = not (rows[:, n] > _ROUNDING).any()
    called = name or f"[{' '.join(part.name for part in parts)}]"
    arcs: list[_Arc] = [(START, at[i] + START, ("first", called), i) for i in range(n) if first[i] > 0]
    if anywhere:
        rows[:, n] = 0.0
        rows /= rows.sum(axis=1, keepdims=True)
        arcs += [(at[i] + END, END, None, CERTAIN) for i in range(n)]
    for i, j in np.argwhere(rows > 0).tolist():
        to = END if j == n else at[j] + START
        arcs.append((at[i] + END, to, ("next", called), i * (n + 1) + j))
    tables = {("first", called): first / first.sum(), ("next", called): rows}
    return _joined(parts, arcs, tables, name, called)


# --- internals ----------------------------------------------------------------------------------------------


def _with_end(rows: np.ndarray, n: int, what: str) -> np.ndarray:
    """Rows with one more entry: what they lack to one."""
    if rows.shape != (n, n):
        raise InvalidTable(f"{what} has the shape {(n, n)}, a row for each, not {rows.shape}.")
    sums = rows.sum(axis=1)
    if not np.isfinite(rows).all() or (rows < 0).any() or (sums > 1.0 + _ROUNDING).any():
        raise InvalidTable(f"{what} takes probabilities, and each row sums to at most one.")
    left = np.maximum(1.0 - sums, 0.0)
    left[left <= _ROUNDING] = 0.0
    found = np.column_stack([rows, left])
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _offsets(parts: Any) -> list[int]:
    """Where the places of each part begin in the whole."""
    if not parts:
        raise InvalidArgument("There are no parts: give at least one.")
    at, found = 2, []
    for part in parts:
        if not isinstance(part, ComposedHMM):
            raise InvalidArgument(
                f"A part is made by pgm.part_of(...) or from others; {shown(part)} is not one."
            )
        found.append(at)
        at += len(part._places.labels)
    return found


def _places(labels: Any, rows: Any, arcs: list[_Arc]) -> Places:
    keys = list(dict.fromkeys(key for _, _, key, _ in arcs if key is not None))
    index = {key: i for i, key in enumerate(keys)}
    return Places(
        tuple(labels),
        tuple(rows),
        np.array([arc[0] for arc in arcs], np.int64),
        np.array([arc[1] for arc in arcs], np.int64),
        tuple(keys),
        np.array([0 if arc[2] is None else index[arc[2]] for arc in arcs], np.int64),
        np.array([arc[3] for arc in arcs], np.int64),
    )


def _joined(
    parts: Any, arcs: list[_Arc], tables: Mapping[Key, np.ndarray], name: str, called: str
) -> ComposedHMM:
    """One whole, made of parts and the arcs between them."""
    if not isinstance(name, str):
        raise InvalidArgument(f"The name of a whole is text, not {shown(name)}.")
    labels: list[tuple[Any, ...]] = [(), ()]
    rows: list[tuple[str, int]] = [("", -1), ("", -1)]
    every = dict(tables)
    emissions: dict[str, Any] = {}
    inner: list[_Arc] = []
    for part, at in zip(parts, _offsets(parts), strict=True):
        places = part._places
        labels += [(name, *one) if name and one else one for one in places.labels]
        rows += places.rows
        for i in range(places.source.size):
            certain = int(places.entry[i]) == CERTAIN
            key = None if certain else places.keys[places.table[i]]
            inner.append((int(places.source[i]) + at, int(places.to[i]) + at, key, int(places.entry[i])))
        for key, table in part._tables.items():
            if key in every and not np.array_equal(every[key], table):
                raise InvalidArgument(
                    f"Two parts are called {key[1]!r}, but differ in {key[0]}: give them different names."
                )
            every[key] = table
        for owner, emission in part.emission.items():
            if owner in emissions and emissions[owner] != emission:
                raise InvalidArgument(
                    f"Two parts are called {owner!r}, but have different emissions: rename one of them."
                )
            emissions[owner] = emission
    kinds = {(type(one).__name__, str(one.domain)) for one in emissions.values()}
    if len(kinds) > 1:
        raise InvalidArgument(
            f"All parts must emit the same kind of value, over the same symbols; {listed(emissions)} do not."
        )
    return ComposedHMM._of(_places(labels, rows, inner + arcs), every, emissions, name or called)
