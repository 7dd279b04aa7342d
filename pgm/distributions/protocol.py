"""What every local distribution provides: P(child | parents), a root, or the emission of a hidden state."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self, runtime_checkable


@runtime_checkable
class LocalDistribution(Protocol):
    """A distribution that is learned from additive sufficient statistics, and written to files in parts.

    `fit(data, weights)` is `fitted(statistics(data, weights))`. EM calls the same `fitted` with expected
    statistics: rows weighted by their posteriors, or what inference expects of hidden parts.

    >>> from pgm.distributions import Categorical
    >>> isinstance(Categorical([0.5, 0.5]), LocalDistribution)
    True
    """

    kind: ClassVar[str]  # its name in files
    label: ClassVar[str]  # what a picture calls it

    def statistics(self, data: Any, weights: Any = None) -> Any:
        """Return sufficient statistics; `+` adds those of other data."""

    def fitted(self, statistics: Any, prior: Any = None) -> Self:
        """Return the most likely distribution of this kind; a prior is statistics that are added."""

    def fit(self, data: Any, weights: Any = None) -> Self:
        """Return the most likely distribution of this kind for some data."""

    def to_parts(self) -> Any:
        """Return its parts, for a file."""
