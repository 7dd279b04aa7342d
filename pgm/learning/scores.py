"""Scores of structures. A name such as "bic" stands for an object with options.

SCORES is the only list of them. All are sums over families, larger is better, in nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pgm.calls import guard_classes
from pgm.errors import InvalidArgument, nearest, shown


class Score:
    """Options of a score; its fixed properties are class attributes."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]
    name: ClassVar[str]
    discrete: ClassVar[bool] = True  # whether it scores discrete columns
    continuous: ClassVar[bool] = False  # whether it scores continuous columns
    equivalent: ClassVar[bool] = True  # whether Markov equivalent networks score alike
    whole: ClassVar[bool] = False  # whether it is defined for whole numbers of rows only

    def per_parameter(self, rows: float) -> float:
        """The penalty for each free parameter."""
        return 0.0


@dataclass(frozen=True, slots=True)
class LogLikelihood(Score):
    """The maximised log-likelihood: never decreases with more arcs, so use `max_parents=` or held-out data.

    >>> LogLikelihood().name
    'log-likelihood'
    """

    name: ClassVar[str] = "log-likelihood"
    continuous: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BIC(Score):
    """The log-likelihood minus half the log of the number of rows for each parameter (Schwarz 1978).

    For discrete columns, continuous ones, and both.

    >>> round(BIC().per_parameter(100.0), 6)
    2.302585
    """

    name: ClassVar[str] = "bic"
    continuous: ClassVar[bool] = True

    def per_parameter(self, rows: float) -> float:
        """Half the logarithm of the number of rows."""
        return 0.5 * math.log(rows) if rows > 1.0 else 0.0


@dataclass(frozen=True, slots=True)
class AIC(Score):
    """The log-likelihood minus one for each parameter (Akaike 1974). For discrete and continuous columns.

    >>> AIC().per_parameter(100.0)
    1.0
    """

    name: ClassVar[str] = "aic"
    continuous: ClassVar[bool] = True

    def per_parameter(self, rows: float) -> float:
        """One, whatever the number of rows."""
        return 1.0


def _weight(score: Any) -> None:
    value = score.equivalent_sample_size
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not good or not 0.0 < value < math.inf:
        raise InvalidArgument(f"equivalent_sample_size is a number above 0, not {shown(value)}.")


@dataclass(frozen=True, slots=True)
class BDeu(Score):
    """The marginal likelihood under a uniform Dirichlet prior (Heckerman, Geiger & Chickering 1995).

    Args:
        equivalent_sample_size: how many rows the prior is worth, shared by the cells of each table.

    >>> BDeu(equivalent_sample_size=5)
    BDeu(equivalent_sample_size=5)
    """

    equivalent_sample_size: float = 10.0
    name: ClassVar[str] = "bdeu"

    def __post_init__(self) -> None:
        """Check the options."""
        _weight(self)


@dataclass(frozen=True, slots=True)
class BDs(Score):
    """BDeu whose prior is shared only by the parent configurations that occur (Scutari 2016).

    Args:
        equivalent_sample_size: how many rows the prior is worth.

    >>> BDs().equivalent_sample_size
    10.0
    """

    equivalent_sample_size: float = 10.0
    name: ClassVar[str] = "bds"
    equivalent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the options."""
        _weight(self)


@dataclass(frozen=True, slots=True)
class K2(Score):
    """The marginal likelihood under a Dirichlet prior of 1 in each cell (Cooper & Herskovits 1992).

    >>> K2().equivalent
    False
    """

    name: ClassVar[str] = "k2"
    equivalent: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class FNML(Score):
    """Factorised normalised maximum likelihood: no prior to choose (Silander, Roos & Myllymäki 2010).

    >>> FNML().whole
    True
    """

    name: ClassVar[str] = "fnml"
    equivalent: ClassVar[bool] = False
    whole: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class QNML(Score):
    """Quotient normalised maximum likelihood (Silander, Leppä-aho, Jääsaari & Roos 2018).

    >>> QNML().equivalent
    True
    """

    name: ClassVar[str] = "qnml"
    whole: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class BGe(Score):
    """The marginal likelihood of continuous columns under a normal-Wishart prior (Geiger & Heckerman 2002).

    As corrected by Kuipers, Moffa & Heckerman 2014; the prior's mean is that of the data.

    Args:
        mean_rows: how many rows the prior's mean is worth.
        freedom: degrees of freedom of the Wishart distribution; the number of columns plus 2 if left out.

    >>> BGe().continuous
    True
    """

    mean_rows: float = 1.0
    freedom: float | None = None
    name: ClassVar[str] = "bge"
    discrete: ClassVar[bool] = False
    continuous: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("mean_rows", "freedom"):
            value = getattr(self, name)
            if name == "freedom" and value is None:
                continue
            good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not good or not 0.0 < value < math.inf:
                raise InvalidArgument(f"{name} is a number above 0, not {shown(value)}.")


SCORES: dict[str, type[Score]] = {
    kind.name: kind for kind in (BIC, AIC, BDeu, BDs, K2, LogLikelihood, FNML, QNML, BGe)
}
guard_classes(SCORES.values())


def find_score(score: str | Score) -> Score:
    """The score of this name.

    >>> find_score("bic")
    BIC()
    """
    if isinstance(score, Score):
        return score
    if isinstance(score, str) and score in SCORES:
        return SCORES[score]()
    passed: object = score
    if isinstance(passed, type) and issubclass(passed, Score):
        name = passed.__name__
        raise InvalidArgument(f"score= takes a score, and {name} is the class of one: write {name}().")
    names = ", ".join(map(repr, SCORES))
    raise InvalidArgument(f"score={shown(score)} is not one of {names}.{nearest(score, SCORES)}")
