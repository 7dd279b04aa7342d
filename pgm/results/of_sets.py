"""A value for each variable, or set of variables, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from .base import Result, pandas

if TYPE_CHECKING:
    import pandas as pd

Names = tuple[str, ...]


class OfSets(Result, Mapping[Names | str, float]):
    """{name, or names: value}; a set of one is its name.

    What a subclass adds: the order of `_values`, and what the values are called.
    """

    __slots__ = ("_values",)
    _called: ClassVar[str]
    _values: dict[Names, float]

    def __getitem__(self, names: Names | str) -> float:
        return self._values[(names,) if isinstance(names, str) else tuple(names)]

    def __iter__(self) -> Iterator[Names | str]:
        return iter([names[0] if len(names) == 1 else names for names in self._values])

    def __len__(self) -> int:
        return len(self._values)

    @property
    def best(self) -> Names:
        """The names that come first."""
        return next(iter(self._values))

    def to_dict(self) -> dict[Names | str, float]:
        """{name, or names: value}."""
        return {names: self[names] for names in self}

    def to_pandas(self) -> pd.Series:
        """A Series by name; of sets, by their names joined by commas."""
        index = [", ".join(names) for names in self._values]
        series: pd.Series = pandas().Series(list(self._values.values()), index=index, name=self._called)
        return series
