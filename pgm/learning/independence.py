"""How independence is tested. A name such as "g" stands for an object with options.

TESTS is the only list of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pgm.calls import guard_classes
from pgm.errors import InvalidArgument, nearest, shown


class Test:
    """Options of a test; its fixed properties are class attributes."""

    __slots__ = ()
    __test__ = False  # not one of pytest's
    __dataclass_fields__: ClassVar[dict[str, Any]]
    name: ClassVar[str]
    continuous: ClassVar[bool] = False  # whether it tests continuous columns, not states


@dataclass(frozen=True, slots=True)
class G(Test):
    """The likelihood-ratio test: G squared, compared with a chi-square distribution (Wilks 1938).

    >>> G().name
    'g'
    """

    name: ClassVar[str] = "g"


@dataclass(frozen=True, slots=True)
class ChiSquare(Test):
    """Pearson's chi-square test (1900), summed over the configurations of the conditioning set.

    >>> ChiSquare().name
    'chi-square'
    """

    name: ClassVar[str] = "chi-square"


@dataclass(frozen=True, slots=True)
class Permutation(Test):
    """A permutation test: G squared, compared with its values when one column is shuffled.

    Args:
        shuffles: the number of shuffles.

    >>> Permutation(shuffles=500)
    Permutation(shuffles=500)
    """

    shuffles: int = 1000
    name: ClassVar[str] = "permutation"

    def __post_init__(self) -> None:
        """Check the options."""
        if (
            isinstance(self.shuffles, bool)
            or not isinstance(self.shuffles, int | np.integer)
            or self.shuffles < 1
        ):
            raise InvalidArgument(f"shuffles is a whole number of at least 1, not {shown(self.shuffles)}.")


@dataclass(frozen=True, slots=True)
class MutualInformation(Test):
    """Conditional mutual information: independent if below a threshold, whatever the number of rows.

    Args:
        threshold: in nats.

    >>> MutualInformation(threshold=0.02).threshold
    0.02
    """

    threshold: float = 0.01
    name: ClassVar[str] = "mutual-information"

    def __post_init__(self) -> None:
        """Check the options."""
        value = self.threshold
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < math.inf:
            raise InvalidArgument(f"threshold is a number of at least 0, not {shown(value)}.")


@dataclass(frozen=True, slots=True)
class PartialCorrelation(Test):
    """The partial correlation of continuous columns, by Fisher's z (1924).

    >>> PartialCorrelation().continuous
    True
    """

    name: ClassVar[str] = "partial-correlation"
    continuous: ClassVar[bool] = True


TESTS: dict[str, type[Test]] = {
    kind.name: kind for kind in (G, ChiSquare, Permutation, MutualInformation, PartialCorrelation)
}
guard_classes(TESTS.values())


def find_test(test: str | Test) -> Test:
    """The test of this name.

    >>> find_test("chi-square")
    ChiSquare()
    """
    if isinstance(test, Test):
        return test
    if isinstance(test, str) and test in TESTS:
        return TESTS[test]()
    passed: object = test
    if isinstance(passed, type) and issubclass(passed, Test):
        raise InvalidArgument(
            f"test= takes a test, and {passed.__name__} is the class of one: write {passed.__name__}()."
        )
    names = ", ".join(map(repr, TESTS))
    raise InvalidArgument(f"test={shown(test)} is not one of {names}.{nearest(test, TESTS)}")
