"""Answers about models that have variables with states and continuous ones as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import InvalidArgument
from pgm.printing import ROWS, Share, label
from pgm.results.assignment import Assignment
from pgm.results.base import noted, pandas, put
from pgm.results.density import Density, digits
from pgm.results.discrete import Distribution
from pgm.results.marginals import Marginals
from pgm.results.report import EXACT, Report
from pgm.variables import Variable, typed_array

if TYPE_CHECKING:
    import pandas as pd


class MixedMarginals(Marginals):
    """The distribution of each unobserved variable, discrete or continuous: {name: distribution}."""

    __slots__ = ("_densities",)
    _densities: Callable[[str], Density]

    def __init__(
        self,
        variables: Iterable[Variable],
        discrete: Marginals,
        densities: Callable[[str], Density],
        report: Report = EXACT,
    ) -> None:
        """Take all variables in order, the discrete distributions, and a function for the others."""
        variables = tuple(variables)
        begins = dict(zip(discrete, discrete._offsets, strict=True))
        super().__init__(variables, discrete._flat, [begins.get(v.name, 0) for v in variables], report)
        put(self, "_densities", densities)

    @property
    def discrete(self) -> Marginals:
        """The distributions of the discrete variables."""
        begins = {v: at for v, at in zip(self._variables, self._offsets, strict=True) if not v.continuous}
        return Marginals(begins, self._flat, list(begins.values()), self.report)

    def _make(self, variable: Variable, start: int) -> Distribution | Any:
        return self._densities(variable.name) if variable.continuous else super()._make(variable, start)

    def to_array(self, prefix: str) -> np.ndarray:
        """The probabilities of variables with states; see `Marginals.to_array`."""
        if any(v.continuous and v.name.startswith(f"{prefix}[") for v in self._variables):
            raise InvalidArgument(
                f"The variables '{prefix}[...]' are continuous and have no states to give probabilities to; "
                "take .mean and .std of each."
            )
        return super().to_array(prefix)

    def to_pandas(self) -> pd.DataFrame:
        """A long frame with columns variable, state, p for states, and mean, sd for continuous variables."""
        rows = [(name, p.mean, p.std) for name, p in self.items() if isinstance(p, Density)]
        made = pandas().DataFrame(rows, columns=["variable", "mean", "sd"])
        frame: pd.DataFrame = pandas().concat([self.discrete.to_pandas(), made])
        return frame

    def _parts(self) -> tuple[object, ...]:
        made = {v.name: self[v.name] for v in self._variables if v.continuous}
        return self.variables, self.discrete, made.__getitem__, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = []
        for name, p in islice(self.items(), ROWS):
            if isinstance(p, Density):
                rows.append([label(name), f"{digits(p.mean)} (mean)", f"{digits(p.std)} (sd)"])
            else:
                best = int(p.values.argmax())
                rows.append([label(name), label(p.states[best]), Share(p.values[best])])
        return ["variable", "most probable", "P"], rows, noted(len(self), len(rows), "variables", self.report)


class MixedAssignment(Assignment):
    """A joint assignment of discrete and continuous variables: {name: state or value}.

    Probabilities are densities here: `log_joint` is log p(states and continuous values, given).
    """

    __slots__ = ("continuous",)
    continuous: dict[str, float]

    def __init__(
        self,
        variables: Iterable[Variable],
        codes: Sequence[int] | np.ndarray,
        continuous: Mapping[str, float],
        log_probability: float | None,
        log_joint: float,
        report: Report = EXACT,
    ) -> None:
        """Take codes of all variables, those of continuous ones 0, and the values of these."""
        super().__init__(variables, codes, log_probability, log_joint, report)
        put(self, "continuous", dict(continuous))

    def __getitem__(self, name: str) -> Any:
        """The state or value of one variable."""
        found = self.continuous.get(name)
        return super().__getitem__(name) if found is None else found

    def to_dict(self) -> dict[str, Any]:
        """{name: state or value}."""
        return {name: self[name] for name in self}

    def _states(self, places: Sequence[int]) -> np.ndarray:
        return typed_array([self[self._variables[i].name] for i in places])

    def _parts(self) -> tuple[object, ...]:
        log = self._log_probability
        return self._variables, self.codes, self.continuous, log, self.log_joint, self.report

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        rows = [
            [label(name), digits(value) if name in self.continuous else label(value)]
            for name, value in islice(self.to_dict().items(), ROWS)
        ]
        notes = noted(len(self), len(rows), "variables", self.report)
        density = f"log density {self.log_joint:.10g}, together with the evidence"
        return ["variable", "value"], rows, "\n".join(note for note in (density, notes) if note)
