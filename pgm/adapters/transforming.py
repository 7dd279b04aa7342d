"""The output of transformers: names of its columns, and data frames where they are asked for."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from pgm.errors import InvalidArgument, listed, shown

from .rows import Rows

OUTPUTS = ("default", "pandas", "polars")


class Transformer(Rows):
    """An adapter with `transform`, which can return data frames as scikit-learn's transformers do."""

    @property
    @abstractmethod
    def _n_outputs(self) -> int:
        """The number of columns that `transform` returns."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that `transform` returns.

        Args:
            input_features: ignored; present for pipelines.

        Raises:
            IncompleteModel: it is not fitted.

        >>> import pgm
        >>> pgm.KMeans(2, seed=0).fit([[0.0], [1.0], [9.0]]).get_feature_names_out().tolist()
        ['kmeans0', 'kmeans1']
        """
        self._check_fitted()
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(self._n_outputs)], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns; returns the estimator itself.

        Args:
            transform: "default", an array; "pandas" or "polars", a data frame; None changes nothing.

        Raises:
            InvalidArgument: there is no such output.

        >>> import pgm
        >>> clusters = pgm.KMeans(2, seed=0).set_output(transform="pandas").fit([[0.0], [1.0], [9.0]])
        >>> clusters.transform([[8.0]]).columns.tolist()
        ['kmeans0', 'kmeans1']
        """
        if transform is not None:
            if transform not in OUTPUTS:
                raise InvalidArgument(f"transform= is {listed(OUTPUTS)}, or None, not {shown(transform)}.")
            self._sklearn_output_config = {"transform": transform}  # the name that `clone` copies
        return self

    def _as_asked(self, X: Any, values: np.ndarray) -> Any:
        """The values as what `set_output`, or else scikit-learn's configuration, asks for."""
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        if asked is None and "sklearn" in sys.modules:
            asked = sys.modules["sklearn"].get_config()["transform_output"]
        if asked == "pandas":
            import pandas

            index = X.index if isinstance(X, pandas.DataFrame) else None
            return pandas.DataFrame(values, index=index, columns=self.get_feature_names_out())
        if asked == "polars":
            import polars

            return polars.DataFrame(values, schema=self.get_feature_names_out().tolist(), orient="row")
        return values
