"""The checked parameters of a nonlinear dynamical system: functions, covariances of noise, the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pgm.errors import InvalidArgument, counted, listed, nearest, shown
from pgm.inference.engines.kalman.schedule import factored
from pgm.inference.engines.nonlinear import At, Caller, Model, difference, extras

from .linear_parameters import Varying, numbers, plural
from .linear_parameters import covariance as covariance_of


@dataclass(frozen=True)
class Parameters:
    """The checked parameters of a system."""

    f: Callable[..., Any]
    h: Callable[..., Any]
    F: Callable[..., Any] | None
    H: Callable[..., Any] | None
    Q: Varying
    R: np.ndarray  # (m, m) or (steps, m, m)
    mean: np.ndarray
    covariance: np.ndarray
    periods: np.ndarray  # (n,), infinite except for angles
    periods_seen: np.ndarray  # (m,)
    n_inputs: int
    wants: tuple[tuple[str, ...], tuple[str, ...]]  # what f and h take besides the state

    def __post_init__(self) -> None:
        """Make arrays read-only: copies share them."""
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @property
    def n(self) -> int:
        """Entries of a state."""
        return self.mean.size

    @property
    def m(self) -> int:
        """Entries of an observation."""
        return int(self.R.shape[-1])

    @property
    def timed(self) -> bool:
        """Whether something depends on the gap between times."""
        return callable(self.Q) or "gap" in self.wants[0]

    @property
    def of_inputs(self) -> str:
        """What takes inputs, for messages."""
        return "u in f= or u in h="

    @property
    def of_gaps(self) -> str:
        """What may be a function of the gap, for messages."""
        return "f= or Q="

    def model(self) -> Model:
        """The functions for one question."""
        return Model(
            Caller("f", self.f, self.n, self.wants[0]),
            Caller("h", self.h, self.m, self.wants[1]),
            self.F,
            self.H,
            difference(self.periods),
            difference(self.periods_seen),
            self.mean,
            root_of(self.covariance),
        )


def root_of(covariance: np.ndarray) -> np.ndarray:
    """A square root of this covariance: a matrix that turns independent noise into noise with it."""
    U, d = factored(covariance)
    return np.asarray(U * np.sqrt(d)[..., None, :])


class Noise:
    """The noise covariances of the steps of one question, each computed once."""

    def __init__(self, p: Parameters, steps: int) -> None:
        """Refuse too few matrices."""
        self.p = p
        self.roots: dict[Any, np.ndarray] = {}
        if isinstance(p.Q, np.ndarray) and p.Q.ndim == 3 and len(p.Q) < steps - 1:
            raise InvalidArgument(
                f"Q= has matrices for {counted(len(p.Q))} steps in time; {counted(steps)} observations need "
                f"{counted(steps - 1)}: Q[t] is of the noise from step t to t + 1."
            )
        if p.R.ndim == 3 and len(p.R) < steps:
            raise InvalidArgument(
                f"R= has matrices for {counted(len(p.R))} observations, but there are {counted(steps)} steps."
            )

    def move(self, t: int, gap: float | None) -> np.ndarray:
        """A root of the covariance of the noise from a step to the next."""
        Q = self.p.Q
        key = gap if callable(Q) else t if Q.ndim == 3 else 0
        if key not in self.roots:
            if callable(Q):
                assert gap is not None
                what = f"Q({gap:.6g})"
                own = covariance_of(what, Q(gap), self.p.n, f"a state has {plural(self.p.n, 'dimension')}")
                if not isinstance(own, np.ndarray) or own.ndim != 2:
                    raise InvalidArgument(f"{what} is {shown(own)}, but should be a matrix.")
            else:
                own = Q if Q.ndim == 2 else Q[t]
            self.roots[key] = root_of(own)
        return self.roots[key]

    def look(self, t: int) -> np.ndarray:
        """The covariance of the noise of an observation."""
        return self.p.R if self.p.R.ndim == 2 else self.p.R[t]


def checked(
    f: Any, h: Any, Q: Any, R: Any, mean: Any, covariance: Any, F: Any, H: Any, n_inputs: Any, observed: Any
) -> dict[str, Any]:
    """The parameters except the periods, which need names."""
    for name, function in (("f", f), ("h", h)):
        if not callable(function):
            more = " A matrix is for pgm.LinearDynamicalSystem." if not isinstance(function, str) else ""
            raise InvalidArgument(f"{name}= is a function of the state, not {shown(function)}.{more}")
    for name, function in (("F", F), ("H", H)):
        if function is not None and not callable(function):
            raise InvalidArgument(
                f"{name}= is a function of the state that gives a matrix, not {shown(function)}."
            )
    own_mean = np.atleast_1d(numbers("mean", mean))
    if own_mean.ndim != 1 or own_mean.size == 0:
        raise InvalidArgument(
            f"mean= is a list of numbers, one for each entry of a state, not {shown(mean)}."
        )
    n = own_mean.size
    why = f"mean= says that a state has {plural(n, 'dimension')}"
    spread = covariance_of("covariance", covariance, n, why)
    if not isinstance(spread, np.ndarray) or spread.ndim != 2:
        raise InvalidArgument(
            f"covariance= is a matrix, a list of variances or a number, not {shown(covariance)}."
        )
    own_Q = covariance_of("Q", Q, n, why)
    wants = extras("f", f), extras("h", h, ("u", "t"))
    takes = any("u" in each for each in wants)
    if n_inputs is not None and (
        isinstance(n_inputs, bool) or not isinstance(n_inputs, int | np.integer) or n_inputs < 1
    ):
        raise InvalidArgument(f"n_inputs= is a whole number of at least 1, not {shown(n_inputs)}.")
    if n_inputs is not None and not takes:
        raise InvalidArgument("n_inputs= has no effect: neither f= nor h= has a parameter u.")
    if callable(R):
        raise InvalidArgument("R= is a matrix, or one for each step; only Q= may be a function of the gap.")
    given = numbers("R", R)
    if given.ndim == 0:
        m = (
            len(observed)
            if isinstance(observed, list | tuple)
            else _seen(h, own_mean, wants[1], int(n_inputs or 1))
        )
    else:
        m = given.shape[-1]
    own_R = covariance_of("R", R, m, f"an observation has {plural(m, 'dimension')}")
    return {
        **{"f": f, "h": h, "F": F, "H": H, "Q": own_Q, "R": own_R, "mean": own_mean, "covariance": spread},
        **{"n_inputs": int(n_inputs or 1) if takes else 0, "wants": wants},
    }


def _seen(h: Callable[..., Any], mean: np.ndarray, wants: tuple[str, ...], n_inputs: int) -> int:
    """The dimension of an observation: that of h at the mean of the start."""
    every = {"u": np.zeros(n_inputs), "t": 0}
    with np.errstate(all="ignore"):
        made = h(mean.copy(), **{name: every[name] for name in wants})
    try:
        return max(int(np.asarray(made, dtype=np.float64).size), 1)
    except (TypeError, ValueError):
        raise InvalidArgument(f"h= gives {shown(made)}, but should give numbers.") from None


def periods_of(
    given: Any, states: tuple[str, ...], observations: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The periods of states and observations, by name; infinite except for angles."""
    own, seen = np.full(len(states), np.inf), np.full(len(observations), np.inf)
    if given is None:
        return own, seen
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f'periods= is a dict of names of angles and their periods, such as {{"bearing": 2 * numpy.pi}}, '
            f"not {shown(given)}."
        )
    every = [*states, *observations]
    for name, period in given.items():
        if name not in every:
            raise InvalidArgument(
                f"periods= names {shown(name)}; there are {listed(every)}.{nearest(name, every)}"
            )
        found = numbers(f"periods[{name!r}]", period)
        if found.ndim or found <= 0.0:
            raise InvalidArgument(f"periods= of {name!r} is a positive number, not {shown(period)}.")
        for names, array in ((states, own), (observations, seen)):
            if name in names:
                array[names.index(name)] = float(found)
    return own, seen


def at(step: int, times: np.ndarray | None, u: np.ndarray | None, *, moves: bool = False) -> At:
    """Where f (`moves`) or h is called: at a step of a series, with its time and its inputs, (inputs, S)."""
    gap = float(times[step + 1] - times[step]) if moves and times is not None else None
    return At(step, float(times[step]) if times is not None else step, gap, u)
