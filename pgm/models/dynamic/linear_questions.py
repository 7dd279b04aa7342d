"""The data of a question about a linear dynamical system: observations, inputs and times, as schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from pgm.errors import InvalidArgument, counted, shown
from pgm.frames.sequences import Sequences, sequences
from pgm.inference.engines.kalman import Schedule, Series

from .linear_parameters import Varying, covariance, matrix, numbers, plural


@dataclass(frozen=True)
class Parameters:
    """The checked parameters of a system."""

    A: Varying
    C: np.ndarray
    Q: Varying
    R: np.ndarray
    B: np.ndarray | None  # (n, inputs)
    D: np.ndarray | None  # (m, inputs)
    b: np.ndarray | None
    d: np.ndarray | None
    mean: np.ndarray
    covariance: np.ndarray  # infinite on the diagonal where diffuse
    n: int
    m: int
    n_inputs: int

    def __post_init__(self) -> None:
        """Make arrays read-only: copies share them, and the start may have been derived from A and Q."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def timed(self) -> bool:
        """Whether matrices depend on the gap between times."""
        return callable(self.A) or callable(self.Q)

    @property
    def of_inputs(self) -> str:
        """What takes inputs, for messages."""
        return "B= or D="

    @property
    def of_gaps(self) -> str:
        """What may be a function of the gap, for messages."""
        return "A= or Q="

    @property
    def varying(self) -> bool:
        """Whether any matrix changes."""
        every = (self.A, self.Q, self.C, self.R)
        return any(not isinstance(each, np.ndarray) or each.ndim == 3 for each in every)


class Sizes(Protocol):
    """What must be known about a system to read rows for it."""

    @property
    def m(self) -> int:
        """Entries of an observation."""

    @property
    def n_inputs(self) -> int:
        """How many values an input has."""

    @property
    def timed(self) -> bool:
        """Whether something depends on the gap between times."""

    @property
    def of_inputs(self) -> str:
        """What takes inputs, for messages."""

    @property
    def of_gaps(self) -> str:
        """What may be a function of the gap, for messages."""


@dataclass(frozen=True)
class Given:
    """The data of a question: rows, inputs and times of each series."""

    y: list[np.ndarray]
    inputs: list[np.ndarray] | None
    times: list[np.ndarray] | None
    data: Sequences = field(repr=False)


@dataclass(frozen=True)
class Question:
    """Series with a schedule for each, and its place in the data."""

    given: Given
    schedules: list[Schedule]
    series: list[Series]
    shifts: list[np.ndarray | None]
    steps: list[np.ndarray]  # indices of steps, or times

    @property
    def y(self) -> list[np.ndarray]:
        """What was observed."""
        return self.given.y

    @property
    def data(self) -> Sequences:
        """The data as given, with the place of each series."""
        return self.given.data

    @property
    def lone(self) -> bool:
        """Whether one series was given, not a list."""
        return self.data.lone


def asked(
    p: Parameters, y: Any, inputs: Any, times: Any, lengths: Any, sequence: Any, more: int = 0
) -> Question:
    """Read a question; `more` steps come after those observed, for which inputs and times are given too."""
    return prepared(p, read(p, y, inputs, times, lengths, sequence, more))


def read(
    p: Sizes, y: Any, inputs: Any, times: Any, lengths: Any = None, sequence: Any = None, more: int = 0
) -> Given:
    """Read rows, inputs and times."""
    data = sequences(y, vector=p.m > 1, lengths=lengths, sequence=sequence)
    rows = data.floats(p.m, flat=p.m == 1)
    each = [rows[a:b] for a, b in pairwise(data.starts.tolist())]
    if more:
        each = [np.concatenate([one, np.full((more, p.m), np.nan)]) for one in each]
    sizes = [len(one) for one in each]
    given = _inputs(p, inputs, sizes, data, more)
    return Given(each, given, _times(p, times, sizes, data, more), data)


def prepared(p: Parameters, given: Given) -> Question:
    """The question that these rows make for these parameters."""
    kept: dict[Any, Schedule] = {}
    counted_to: dict[int, np.ndarray] = {}
    schedules, series, shifts, steps = [], [], [], []
    for i, one in enumerate(given.y):
        T, clock = len(one), None if given.times is None else given.times[i]
        key = T if clock is None else clock.tobytes()
        if key not in kept:
            kept[key] = schedule(p, T, clock)
        schedules.append(kept[key])
        u = None if given.inputs is None else given.inputs[i]
        shift = added(T, p.d, p.D, u)
        shifts.append(shift)
        series.append(Series(one if shift is None else one - shift, added(T - 1, p.b, p.B, u)))
        if clock is None:
            clock = counted_to.setdefault(T, np.arange(T))
        steps.append(clock)
    return Question(given, schedules, series, shifts, steps)


def added(
    T: int, constant: np.ndarray | None, by: np.ndarray | None, u: np.ndarray | None
) -> np.ndarray | None:
    """What inputs and a constant add in each of this many steps; None: nothing."""
    if constant is None and (by is None or u is None):
        return None
    size = len(constant) if constant is not None else len(by)  # type: ignore[arg-type]
    found = np.zeros((T, size)) if constant is None else np.tile(constant, (T, 1))
    return found if by is None or u is None else found + u[:T] @ by.T


def schedule(p: Parameters, T: int, times: np.ndarray | None = None) -> Schedule:
    """The matrices of this many steps."""
    if times is None:
        gaps, move = np.empty(0), np.zeros(max(T - 1, 0), np.int64)
    else:
        gaps, move = np.unique(np.diff(times), return_inverse=True)
        move = move.reshape(-1).astype(np.int64)
    A, Q = _moves("A", p.A, gaps, p, T), _moves("Q", p.Q, gaps, p, T)
    if (isinstance(p.A, np.ndarray) and p.A.ndim == 3) or (isinstance(p.Q, np.ndarray) and p.Q.ndim == 3):
        move = np.arange(max(T - 1, 0))
    size = max(len(A), len(Q), 1)
    A, Q = (np.broadcast_to(each, (size, p.n, p.n)) for each in (A, Q))
    C, R = _looks("C", p.C, T), _looks("R", p.R, T)
    looks = max(len(C), len(R))
    look = np.arange(T) if looks > 1 else np.zeros(T, np.int64)
    C, R = np.broadcast_to(C, (looks, p.m, p.n)), np.broadcast_to(R, (looks, p.m, p.m))
    diffuse = np.isinf(np.diagonal(p.covariance))
    start = np.where(np.isinf(p.covariance), 0.0, p.covariance)
    return Schedule(A, Q, C, R, move, look, p.mean, start, diffuse)


def _moves(name: str, value: Varying, gaps: np.ndarray, p: Parameters, T: int) -> np.ndarray:
    """The distinct matrices that lead from one step to the next."""
    if callable(value):
        found = np.empty((max(len(gaps), 1), p.n, p.n))
        found[:] = np.eye(p.n)
        for k, gap in enumerate(gaps.tolist()):
            found[k] = of_gap(name, value, gap, p.n)
        return found
    if value.ndim == 2:
        return value[None]
    if len(value) < T - 1:
        raise InvalidArgument(
            f"{name}= has matrices for {counted(len(value))} steps in time; {counted(T)} observations need "
            f"{counted(T - 1)}: {name}[t] leads from step t to t + 1."
        )
    return value[: max(T - 1, 1)]


def of_gap(name: str, function: Callable[[float], Any], gap: float, n: int) -> np.ndarray:
    """The matrix that a function makes of a gap."""
    what = f"{name}({gap:.6g})"
    made = (covariance if name == "Q" else _square)(
        what, function(gap), n, f"a state has {plural(n, 'dimension')}"
    )
    if not isinstance(made, np.ndarray) or made.ndim != 2:
        raise InvalidArgument(f"{what} is {shown(made)}, but should be a matrix.")
    return made


def _square(name: str, value: Any, n: int, why: str) -> Varying:
    return matrix(name, value, n, n, why)


def _looks(name: str, value: np.ndarray, T: int) -> np.ndarray:
    if value.ndim == 2:
        return value[None]
    if len(value) < T:
        raise InvalidArgument(
            f"{name}= has matrices for {counted(len(value))} observations, but there are {counted(T)} steps."
        )
    return value[:T]


def _inputs(p: Sizes, inputs: Any, sizes: list[int], data: Sequences, more: int) -> list[np.ndarray] | None:
    if inputs is None:
        if p.n_inputs:
            raise InvalidArgument(
                f"This system has inputs ({p.of_inputs}): give inputs=, a row for each step."
            )
        return None
    if not p.n_inputs:
        raise InvalidArgument(
            f"inputs= has no effect: this system has neither {p.of_inputs.replace(' or ', ' nor ')}."
        )
    found = replace(sequences(inputs, vector=p.n_inputs > 1), argument="inputs=")
    rows = found.floats(p.n_inputs, flat=p.n_inputs == 1)
    if len(found) != len(sizes):
        raise InvalidArgument(
            f"inputs= has {len(found):,} series, but there are {len(sizes):,} of observations."
        )
    starts = found.starts.tolist()
    each = []
    for i, ((a, b), size) in enumerate(zip(pairwise(starts), sizes, strict=True)):
        whose = "" if data.lone else f" of {data.name(i)}"
        if b - a != size:
            steps = f"{size - more:,} steps observed and {more:,} to come" if more else f"{size:,} steps"
            raise InvalidArgument(
                f"inputs={whose} has {plural(b - a, 'row')}, but there are {steps}: give a row for each."
            )
        missing = np.isnan(rows[a:b]).any(axis=1)
        if missing.any():
            raise InvalidArgument(
                f"inputs={whose} of step {int(missing.argmax())} (the first is 0) are missing: an input is "
                "known in every step."
            )
        each.append(rows[a:b])
    return each


def _times(p: Sizes, times: Any, sizes: list[int], data: Sequences, more: int) -> list[np.ndarray] | None:
    if times is None:
        if p.timed:
            raise InvalidArgument(
                f"{p.of_gaps} is a function of the gap between two steps: give times=, one for each step."
            )
        return None
    if not p.timed:
        raise InvalidArgument(
            f"times= has no effect: neither {p.of_gaps.replace(' or ', ' nor ')} is a function of the gap "
            "between steps."
        )
    if not data.lone and (isinstance(times, str | bytes) or not hasattr(times, "__iter__")):
        raise InvalidArgument(f"times= is a list with the times of each series, not {shown(times)}.")
    given = [times] if data.lone else list(times)
    if len(given) != len(sizes):
        raise InvalidArgument(
            f"times= has {len(given):,} series, but there are {len(sizes):,} of observations."
        )
    found = []
    for i, (one, size) in enumerate(zip(given, sizes, strict=True)):
        whose = "" if data.lone else f" of {data.name(i)}"
        if np.asarray(one).dtype.kind in "mM":
            raise InvalidArgument(
                "times= are dates: their unit would be a guess. Give floats, such as days since the first."
            )
        each = numbers("times", one)
        if each.shape != (size,):
            steps = f"{size - more:,} steps observed and {more:,} to come" if more else f"{size:,} steps"
            raise InvalidArgument(
                f"times={whose} has {plural(each.size, 'value')}, but there are {steps}: give one for each."
            )
        if (np.diff(each) <= 0).any():
            t = int((np.diff(each) <= 0).argmax())
            raise InvalidArgument(
                f"times={whose} do not increase: step {t} is at {each[t]:.6g}, step {t + 1} at "
                f"{each[t + 1]:.6g}."
            )
        found.append(each)
    return found
