"""Images as Markov networks: a variable for each pixel, a factor for each pair of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from itertools import chain, pairwise, product, repeat
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pgm.cpds.table_input import float_array, is_number
from pgm.errors import InvalidArgument, InvalidTable, UnknownState, shown
from pgm.factors import Dense
from pgm.runtime.room import check_room
from pgm.variables import Domain, Variable, as_domain, is_missing

from .potentials import LARGEST_LOG

_BYTES_PER_PIXEL = 500  # for a variable, its name, and its positions in factors

Codes = npt.NDArray[np.int64]


class Pixels(Mapping[str, Domain]):
    """{"pixel[0,0]": domain, ...}: neither the dict nor any name is built before it is read.

    Variables added later come after the pixels.
    """

    __slots__ = ("_domain", "_more", "_shape")

    def __init__(self, shape: tuple[int, ...], domain: Domain) -> None:
        """All pixels of an image of this shape."""
        self._shape, self._domain = shape, domain
        self._more: dict[str, Domain] = {}

    def copy(self) -> Pixels:
        """A copy that can be added to independently."""
        made = Pixels(self._shape, self._domain)
        made._more = dict(self._more)
        return made

    @property
    def names(self) -> PixelNames:
        """The present names."""
        return PixelNames(self._shape, tuple(self._more))

    def __getitem__(self, name: str) -> Domain:
        if _pixel(name, self._shape) is not None:
            return self._domain
        return self._more[name]

    def __setitem__(self, name: str, domain: Domain) -> None:
        self._more[name] = domain

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return math.prod(self._shape) + len(self._more)

    def values(self) -> ValuesView[Domain]:
        """The domains."""
        return _Domains(self)


class _Domains(ValuesView[Domain]):
    """The domains of pixels, without building their names."""

    _mapping: Pixels

    def __iter__(self) -> Iterator[Domain]:
        pixels = self._mapping
        return chain(repeat(pixels._domain, math.prod(pixels._shape)), pixels._more.values())


class PixelNames(Sequence[str]):
    """The names of pixels and of the variables after them, each built when it is read.

    >>> names = PixelNames((2, 2), ("sun",))
    >>> names[3], names[-1], names.places["pixel[1,0]"]
    ('pixel[1,1]', 'sun', 2)
    """

    __slots__ = ("_count", "_more", "_shape")

    def __init__(self, shape: tuple[int, ...], more: tuple[str, ...]) -> None:
        """The names of all pixels of an image of this shape, and more."""
        self._shape, self._more, self._count = shape, more, math.prod(shape)

    @property
    def places(self) -> PixelPlaces:
        """The index of each name."""
        return PixelPlaces(self, self._shape, {name: self._count + i for i, name in enumerate(self._more)})

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        place = range(len(self))[i]
        if place >= self._count:
            return self._more[place - self._count]
        return f"pixel[{','.join([str(k) for k in np.unravel_index(place, self._shape)])}]"

    def __iter__(self) -> Iterator[str]:
        *above, last = self._shape
        rows = ("".join(f"{k}," for k in place) for place in product(*map(range, above)))
        return chain(
            chain.from_iterable([f"pixel[{row}{j}]" for j in range(last)] for row in rows), self._more
        )

    def __len__(self) -> int:
        return self._count + len(self._more)


class PixelPlaces(Mapping[str, int]):
    """{"pixel[0,0]": 0, ...}, computed from the names."""

    __slots__ = ("_more", "_names", "_shape")

    def __init__(self, names: PixelNames, shape: tuple[int, ...], more: dict[str, int]) -> None:
        self._names, self._shape, self._more = names, shape, more

    def __getitem__(self, name: str) -> int:
        place = _pixel(name, self._shape)
        return self._more[name] if place is None else place

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _pixel(name: object, shape: tuple[int, ...]) -> int | None:
    """The index of the pixel of this name, or None."""
    if not isinstance(name, str) or name[:6] != "pixel[" or name[-1] != "]":
        return None
    indices = name[6:-1].split(",")
    if len(indices) != len(shape) or not all(map(_within, indices, shape)):
        return None
    place = 0
    for index, size in zip(indices, shape, strict=True):
        place = place * size + int(index)
    return place


def _within(index: str, size: int) -> bool:
    """Whether this text is an integer below `size` as Python writes it."""
    if len(index) > 18 or not index.isascii() or not index.isdigit():
        return False
    return int(index) < size and (index[0] != "0" or index == "0")


def grid_parts(
    observed: Any, states: Sequence[Any], coupling: float, unary: Any
) -> tuple[Pixels, list[Dense]]:
    """Return the domain of each variable and the factors of a grid."""
    domain = as_domain(states)
    if not is_number(coupling) or not abs(coupling) <= LARGEST_LOG:
        raise InvalidArgument(
            f"coupling= takes a number up to {LARGEST_LOG:g}, the log weight of agreeing neighbours, "
            f"not {shown(coupling)}."
        )
    try:
        image = observed if isinstance(observed, np.ndarray) else np.array(observed)
    except ValueError:
        raise InvalidArgument("The rows of a grid must have the same length; these do not.") from None
    if image.ndim == 0 or image.size == 0:
        raise InvalidArgument(
            f"A grid is made from an array of pixels, such as a 2-D one, not from {shown(observed)}."
        )
    check_pixels(image.size)
    weights = _weights(unary, domain)
    seen = _seen(image, domain, weights.shape[1])
    return Pixels(image.shape, domain), [
        *_unary_factors(seen, weights),
        *_pair_factors(image.shape, domain, coupling),
    ]


def check_pixels(count: int) -> None:
    """Raise TooLarge if an image of this many pixels would not fit."""
    check_room(count * _BYTES_PER_PIXEL, f"A grid of {count:,} pixels takes")


def _weights(unary: Any, domain: Domain) -> npt.NDArray[np.float64]:
    weights = float_array("unary", unary)
    if weights.ndim != 2 or weights.shape[0] != domain.card or not weights.shape[1]:
        raise InvalidTable(
            f"unary[true, seen] has a row for each of {domain.card} states and a column for each value seen; "
            f"this one has shape {weights.shape}."
        )
    if not (np.isfinite(weights).all() and weights.min() >= 0.0):
        raise InvalidTable(
            "unary[true, seen] holds probabilities or weights, which cannot be negative, infinite or NaN."
        )
    return weights


def _seen(image: npt.NDArray[Any], domain: Domain, n_seen: int) -> Codes:
    """Return the column of `unary` for each pixel in flat order, -1 where nothing was observed.

    The columns are for the states; if there are more or fewer, the pixels are column indices 0, 1, ...
    """
    mask = np.ma.getmaskarray(image).ravel() if isinstance(image, np.ma.MaskedArray) else None
    flat = np.ma.getdata(image).ravel()
    columns = domain if n_seen == domain.card else Domain(range(n_seen))
    if flat.dtype == object:
        table: dict[Any, int] = {}
        try:
            inverse = np.fromiter(
                (table.setdefault(value, len(table)) for value in flat), np.int64, flat.size
            )
        except TypeError:
            raise InvalidArgument(
                "The pixels of a grid are states, None or NaN; some of these are lists."
            ) from None
        values = list(table)
    else:
        unique, inverse = np.unique(flat, return_inverse=True)
        values = list(unique)
    codes = np.array([-1 if is_missing(value) else columns.find(value) for value in values], dtype=np.int64)
    found = codes[inverse]
    missing = np.array([is_missing(value) for value in values], dtype=bool)[inverse]
    if mask is not None:
        missing |= mask
        found[mask] = -1
    bad = (found < 0) & ~missing
    if bad.any():
        at = int(np.argmax(bad))
        place = ",".join(map(str, np.unravel_index(at, image.shape)))
        raise UnknownState(
            Variable.of(f"pixel[{place}]", columns), flat[at], remedy="None and NaN mean not observed."
        )
    return found


def _unary_factors(seen: Codes, weights: npt.NDArray[np.float64]) -> list[Dense]:
    """Return one family of factors for each observed value: its column, and the pixels that have it."""
    order = np.argsort(seen, kind="stable")
    bounds = np.searchsorted(seen[order], np.arange(weights.shape[1] + 1))
    families = []
    for column, (start, stop) in enumerate(pairwise(bounds.tolist())):
        if stop > start:
            values = np.ascontiguousarray(weights[:, column])
            values.flags.writeable = False
            families.append(Dense(order[start:stop].astype(np.int64)[:, np.newaxis], values))
    return families


def _pair_factors(shape: tuple[int, ...], domain: Domain, coupling: float) -> list[Dense]:
    """Return the table shared by all neighbours, with the pairs along every axis."""
    position = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    pairs = [
        np.stack(
            [np.moveaxis(position, axis, 0)[:-1].ravel(), np.moveaxis(position, axis, 0)[1:].ravel()], axis=1
        )
        for axis in range(len(shape))
    ]
    scopes = np.concatenate(pairs)
    if not len(scopes):
        return []
    values = np.eye(domain.card) * float(coupling)
    values.flags.writeable = False
    return [Dense(scopes, values, log=True)]
