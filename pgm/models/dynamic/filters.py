"""Approximate filters for models without a quick exact answer: chosen by name, or an object with options.

None of them is exact, so none is chosen unasked.

>>> Particles(samples=2000, seed=1).samples
2000
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pgm.calls import guard_constructors
from pgm.errors import InvalidArgument, nearest, shown
from pgm.inference.engines.options import number, seeded, whole

__all__ = ["BoyenKoller", "Extended", "Particles", "RaoBlackwellised", "Unscented"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Extended:
    """The extended Kalman filter and smoother: functions are replaced by their tangents at the mean.

    The derivatives are those that the system was given, else finite differences.

    >>> Extended().name
    'extended'
    """

    name: ClassVar[str] = "extended"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unscented:
    """The unscented Kalman filter and smoother (Julier & Uhlmann 1997), by sigma points.

    With the defaults it is the cubature filter: 2 n points of equal weight.

    Args:
        alpha: how far the points spread around the mean.
        beta: added to the weight of the mean in covariances; 2 is usual where alpha is small.
        kappa: the points are sqrt(alpha**2 * (n + kappa)) standard deviations away from the mean.

    Raises:
        InvalidArgument: alpha is not positive, or another is not a number.

    >>> Unscented(alpha=0.5).kappa
    0.0
    """

    alpha: float = 1.0
    beta: float = 0.0
    kappa: float = 0.0
    name: ClassVar[str] = "unscented"

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        number(self, "alpha", 1e-6, 1e6)
        number(self, "beta", -1e6, 1e6)
        number(self, "kappa", -1e6, 1e6)


@dataclass(frozen=True, kw_only=True, slots=True)
class Particles:
    """A particle filter (Gordon, Salmond & Smith 1993), and smoothing by paths sampled backwards.

    Standard errors are estimated from independent groups of particles.

    Args:
        samples: how many particles in all groups together.
        groups: how many groups of equal size.
        threshold: a group is resampled when its effective sample size is below this share of its particles.
        paths: how many paths `smooth` draws, in all groups together.
        seed: of the draws; the same seed gives the same answer.

    Raises:
        InvalidArgument: an option is out of range, or samples or paths is not a multiple of groups.

    >>> Particles(samples=5000, groups=5).threshold
    0.5
    """

    samples: int = 10_000
    groups: int = 10
    threshold: float = 0.5
    paths: int = 1000
    seed: int = 0
    name: ClassVar[str] = "particles"

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "groups", 2)
        for name in ("samples", "paths"):
            _in_groups(self, name, self.groups)
        number(self, "threshold", 0.0, 1.0 + 1e-9)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class RaoBlackwellised:
    """Sampled regime paths of a switching linear system, each with its own Kalman filter.

    All paths are followed while there are no more of them than particles. Then those of large weight are
    kept, and the others are resampled (Fearnhead & Clifford 2003). Standard errors are estimated from
    independent groups of particles.

    Args:
        samples: how many particles in all groups together.
        groups: how many groups of equal size.
        seed: of the draws; the same seed gives the same answer.

    Raises:
        InvalidArgument: an option is out of range, or samples is not a multiple of groups.

    >>> RaoBlackwellised(samples=500).groups
    10
    """

    samples: int = 1000
    groups: int = 10
    seed: int = 0
    name: ClassVar[str] = "rao-blackwellised"

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        whole(self, "groups", 2)
        _in_groups(self, "samples", self.groups)
        seeded(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoyenKoller:
    """The filter of Boyen & Koller (1998) for dynamic networks: clusters of the interface stay independent.

    After each step it forgets the dependence between clusters; within a step all is exact.

    Args:
        clusters: variables that stay together, [["a", "b"], ...]; all others stand alone.

    Raises:
        InvalidArgument: these are not lists of names, or a variable is in two clusters.

    >>> BoyenKoller(clusters=[["wear", "heat"]]).clusters
    (('wear', 'heat'),)
    """

    clusters: Sequence[Sequence[str]] = ()
    name: ClassVar[str] = "boyen-koller"

    def __post_init__(self) -> None:
        """Refuse what is not a list of lists of names; keep tuples."""
        given = self.clusters
        if isinstance(given, str) or not isinstance(given, list | tuple):
            raise InvalidArgument(
                f"clusters= lists groups of variables, [['a', 'b'], ...], not {shown(given)}."
            )
        for those in given:
            if not isinstance(those, list | tuple) or not all(isinstance(name, str) for name in those):
                raise InvalidArgument(
                    f"A cluster is a list of names, such as ['a', 'b'], not {shown(those)}."
                )
        every = [name for those in given for name in those]
        if len(set(every)) < len(every):
            twice = next(name for i, name in enumerate(every) if name in every[:i])
            raise InvalidArgument(f"{twice!r} is in two clusters, which must be disjoint.")
        object.__setattr__(self, "clusters", tuple(map(tuple, given)))


def _in_groups(how: object, name: str, groups: int) -> None:
    """Refuse a count that groups of equal size cannot share."""
    whole(how, name, groups)
    value: int = getattr(how, name)
    if value % groups:
        raise InvalidArgument(
            f"{name} is a multiple of the {groups} groups, which are of equal size, not {value:,}."
        )


Filter = Extended | Unscented | Particles
_KINDS: dict[str, type[Filter]] = {kind.name: kind for kind in (Extended, Unscented, Particles)}


def filter_of(engine: object) -> Filter:
    """The filter of this name; there is no exact one to choose where none is named."""
    if isinstance(engine, Filter):
        return engine
    if isinstance(engine, str) and engine in _KINDS:
        return _KINDS[engine]()
    names = ", ".join(f'"{name}"' for name in _KINDS)
    if engine is None or engine == "auto":
        raise InvalidArgument(
            "A nonlinear system has no exact answer, and nothing is approximated unasked: choose engine=, "
            f'one of {names}; "extended" is quick, "unscented" is usually better, and "particles" estimates '
            "its own error."
        )
    if isinstance(engine, type) and engine in _KINDS.values():
        kind = engine.__name__
        raise InvalidArgument(
            f"engine= takes a filter, and {kind} is the class of one: write pgm.filters.{kind}()."
        )
    raise InvalidArgument(f"engine={shown(engine)} is not one of {names}.{nearest(engine, _KINDS)}")


guard_constructors([BoyenKoller, Extended, Unscented, Particles, RaoBlackwellised])
