"""Functions written by users, of one state or of many at once, and their derivatives by differences."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, shown

EXTRAS = ("u", "t", "gap")
_WIDE = 7e-4  # step, in standard deviations: where truncation and rounding errors near 1 balance
_NARROW = 1e-6  # least step, relative to the value, so that rounding stays small for large values
_COMPARED = 5  # states for which a vectorised call is compared with single calls
_NOT_FOR_MANY = (TypeError, ValueError, IndexError)  # raised by functions of one state that are given many


@dataclass(frozen=True, slots=True)
class At:
    """The step in which a function is called, and what it may take besides the state."""

    step: int
    t: float
    gap: float | None = None  # between two steps
    u: np.ndarray | None = None  # (inputs,) or (inputs, states)


def extras(name: str, function: Callable[..., Any], possible: Sequence[str] = EXTRAS) -> tuple[str, ...]:
    """The names of the parameters that a function takes besides the state.

    Raises:
        InvalidArgument: it takes no state, or needs a parameter that is not possible.

    >>> extras("f", lambda x, u: x + u)
    ('u',)
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        return ()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return tuple(possible)
    first = (
        0
        if parameters and parameters[0].kind in (parameters[0].POSITIONAL_ONLY, parameters[0].VAR_POSITIONAL)
        else 1
    )
    wanted = [each for each in named[first:] if each in possible]
    unknown = [
        p.name
        for p in parameters[1:]
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in possible
    ]
    if unknown or not parameters:
        listed = ", ".join(possible)
        what = f"has a parameter {unknown[0]!r}" if unknown else "takes nothing"
        raise InvalidArgument(f"{name}= {what}: it takes the state first, then by name any of {listed}.")
    return tuple(wanted)


@dataclass(slots=True)
class Caller:
    """A user's function during one question: it is called for many states at once where that works.

    States are columns, so that `x[0]` is the first entry of each: code for one state mostly works for many.
    The first call for many is compared with calls for single states.
    """

    name: str  # "f" or "h"
    function: Callable[..., Any]
    size: int  # how many values it returns
    wants: tuple[str, ...]
    for_many: bool | None = field(default=None)  # None: not tried yet

    def __call__(self, x: np.ndarray, at: At) -> np.ndarray:
        """The values for states (n, count): (size, count)."""
        count = x.shape[1]
        u = at.u if at.u is None or at.u.ndim == 2 else np.repeat(at.u[:, None], count, axis=1)
        with np.errstate(all="ignore"):  # what is not finite is refused below
            if count == 1:
                made = self._one(x[:, 0].copy(), at, None if u is None else u[:, 0])[:, None]
            elif self.for_many is None:
                made = self._tried(x, at, u)
            elif self.for_many:
                made = self._many(self.function(x.copy(), **self._extras(at, u)), count)
            else:
                made = self._each(x, at, u, range(count))
        if not np.isfinite(made).all():
            column = int(np.isfinite(made).all(axis=0).argmin())
            state = ", ".join(f"{value:.6g}" for value in x[:, column])
            raise InvalidArgument(
                f"{self.name}= gives {made[:, column].tolist()} at step {at.step} for the state "
                f"[{state}]: it must give finite numbers for every possible state."
            )
        return made

    def _extras(self, at: At, u: np.ndarray | None) -> dict[str, Any]:
        every = {"u": u, "t": at.t, "gap": at.gap}
        return {name: every[name] for name in self.wants}

    def _one(self, x: np.ndarray, at: At, u: np.ndarray | None) -> np.ndarray:
        given = self.function(x, **self._extras(at, u))
        try:
            found = np.asarray(given, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise InvalidArgument(
                f"{self.name}= gives {shown(given)} at step {at.step}, and should give numbers."
            ) from None
        if found.size != self.size:
            what = "a state" if self.name == "f" else "an observation"
            raise InvalidArgument(
                f"{self.name}= gives {found.size} number{'s' * (found.size != 1)} at step {at.step}, "
                f"and {what} has {self.size}."
            )
        return found

    def _each(self, x: np.ndarray, at: At, u: np.ndarray | None, columns: Sequence[int]) -> np.ndarray:
        return np.column_stack(
            [self._one(x[:, i].copy(), at, None if u is None else u[:, i]) for i in columns]
        )

    def _tried(self, x: np.ndarray, at: At, u: np.ndarray | None) -> np.ndarray:
        """Call it for all, and for some one by one; if the results differ, one by one from now on."""
        count = x.shape[1]
        some = sorted({round(i) for i in np.linspace(0, count - 1, min(count, _COMPARED)).tolist()})
        single = self._each(x, at, u, some)
        try:
            made = self._many(self.function(x.copy(), **self._extras(at, u)), count)
            self.for_many = bool(np.allclose(made[:, some], single, rtol=1e-9, atol=0.0, equal_nan=True))
        except _NOT_FOR_MANY:
            self.for_many = False
        return made if self.for_many else self._each(x, at, u, range(count))

    def _many(self, given: Any, count: int) -> np.ndarray:
        """The result of a call for many states as an array (size, count); `ValueError` if it is none."""
        if isinstance(given, list | tuple):
            rows = [np.asarray(row, dtype=np.float64) for row in given]
            if len(rows) == self.size and all(row.shape in ((), (count,)) for row in rows):
                return np.array([np.broadcast_to(row, (count,)) for row in rows])
        found = np.asarray(given, dtype=np.float64)
        if self.size == 1 and found.shape == (count,):
            found = found[None]
        if found.shape == (self.size, count):
            return found
        raise ValueError


def derivatives(
    call: Caller, x: np.ndarray, centre: np.ndarray, sd: np.ndarray, at: At, off: Any
) -> np.ndarray:
    """The Jacobians (count, size, n) at states (n, count) by central differences of the fourth order.

    Args:
        call: the function.
        x: the states.
        centre: its values there.
        sd: the standard deviations of these states, (n, count).
        at: the step in which it is called.
        off: the difference of two values, taken the short way around for angles.
    """
    n, count = x.shape
    size = np.abs(x)
    step = np.maximum(_NARROW * size, np.minimum(_WIDE * sd, 1e-3 * np.maximum(size, 1.0)))
    step = np.where(step > 0.0, step, 1e-3)
    shifts = np.array([2.0, 1.0, -1.0, -2.0])
    points = np.repeat(x[:, :, None, None], n, axis=2) * np.ones(4)  # (n, count, n, 4)
    own = np.arange(n)
    points[own, :, own] += shifts * step[:, :, None]
    u = at.u
    if u is not None and u.ndim == 2:
        u = np.repeat(u, 4 * n, axis=1)
    values = call(points.reshape(n, -1), At(at.step, at.t, at.gap, u)).reshape(-1, count, n, 4)
    found = off(values, centre[:, :, None, None]) @ np.array([-1.0, 8.0, -8.0, 1.0])
    taken = points[own, :, own]  # (n, count, 4): the steps taken, after rounding
    width = (taken[:, :, 0] - taken[:, :, 3]) * 3.0
    return np.asarray((found / width.T[None]).transpose(1, 0, 2))


def check_range(step: int, *arrays: np.ndarray) -> None:
    """Refuse what is not finite: a filter that diverged, or an unstable system."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise InvalidArgument(
            f"The filter leaves the range of floating-point numbers at step {step} (the first is 0): "
            "the system is unstable, or the filter has lost it. Take another engine=, or other units."
        )


def wrapped(periods: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """The difference of arrays (size, ...) where some rows are angles; None where none is."""
    turning = np.isfinite(periods)
    if not turning.any():
        return None

    def off(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = a - b
        around = periods[turning].reshape(-1, *[1] * (found.ndim - 1))
        found[turning] -= around * np.round(found[turning] / around)
        return np.asarray(found)

    return off


def difference(periods: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The difference of arrays (size, ...); that of angles goes the short way around.

    >>> float(difference(np.array([360.0]))(np.array([359.0]), np.array([1.0]))[0])
    -2.0
    """
    return wrapped(periods) or np.subtract
