"""Scalar answers: floats that know how they were found."""

from __future__ import annotations

import math
import sys

from pgm.printing import html_text
from pgm.results.base import Result, put
from pgm.results.intervals import NORMAL_95
from pgm.results.report import EXACT, Report


class _Scalar(Result, float):
    __slots__ = ("report",)
    report: Report

    def _parts(self) -> tuple[object, ...]:
        return float(self), self.report

    def _repr_html_(self) -> str:
        return html_text(repr(self) if self.exact else f"{self!r}\n{self.report.summary}")


class Probability(_Scalar):
    """A float that knows whether it is exact, and its logarithm even where the float itself is 0.

    >>> p = Probability(math.exp(-2000), log=-2000.0)
    >>> p, p.log, p.exact
    (0.0, -2000.0, True)
    """

    __slots__ = ("log",)
    log: Logarithm

    def __new__(cls, value: float, report: Report = EXACT, log: float | None = None) -> Probability:
        """Take a probability, and its logarithm where that is more precise."""
        self = super().__new__(cls, value)
        if log is None:
            log = math.log(value) if value > 0 else -math.inf
        in_logs = report
        if report.facts:
            report, in_logs = _on_both(value, log, report)
        put(self, "log", Logarithm(log, in_logs))
        put(self, "report", report)
        return self

    @property
    def bounds(self) -> tuple[float, float] | None:
        """A lower and an upper bound; None: not known. `log.bounds` does not underflow."""
        bounds: tuple[float, float] | None = self.report.bounds
        return bounds

    def to_dict(self) -> dict[str, float]:
        """{"value": p, "log": its natural logarithm}."""
        return {"value": float(self), "log": float(self.log)}

    def _parts(self) -> tuple[object, ...]:
        return float(self), self.report, float(self.log)


class Logarithm(_Scalar):
    """The logarithm of a probability or of a partition function; a float that knows whether it is exact.

    >>> Logarithm(-2000.0).exact
    True
    """

    __slots__ = ()

    def __new__(cls, value: float, report: Report = EXACT) -> Logarithm:
        """Take a logarithm and how it was found."""
        self = super().__new__(cls, value)
        put(self, "report", report)
        return self

    @property
    def bounds(self) -> tuple[float, float] | None:
        """A lower and an upper bound, where an engine knows them."""
        bounds: tuple[float, float] | None = self.report.log_bounds
        return bounds

    def to_dict(self) -> dict[str, float]:
        """{"log": the logarithm}."""
        return {"log": float(self)}


class Information(_Scalar):
    """The mutual information of variables, in nats; a float that knows whether it is exact.

    >>> Information(0.5).exact
    True
    """

    __slots__ = ()

    def __new__(cls, value: float, report: Report = EXACT) -> Information:
        """Take a value in nats and how it was found."""
        self = super().__new__(cls, value)
        put(self, "report", report)
        return self

    def to_dict(self) -> dict[str, float]:
        """{"nats": the value}."""
        return {"nats": float(self)}


class ExpectedUtility(_Scalar):
    """The expected utility of a policy; a float that knows whether it is exact.

    >>> ExpectedUtility(2.6).exact
    True
    """

    __slots__ = ()

    def __new__(cls, value: float, report: Report = EXACT) -> ExpectedUtility:
        """Take a utility and how it was found."""
        self = super().__new__(cls, value)
        put(self, "report", report)
        return self

    def to_dict(self) -> dict[str, float]:
        """{"utility": the value}."""
        return {"utility": float(self)}


def _on_both(value: float, log: float, report: Report) -> tuple[Report, Report]:
    """The reports on a probability and on its logarithm, from one on the logarithm."""
    in_logs = report
    if report.log_error is not None:
        in_logs = report.changed(error=report.log_error)
        report = report.changed(error=value * report.log_error)
        if in_logs.log_error:
            off = NORMAL_95 * in_logs.log_error
            in_logs = in_logs.changed(interval=(log - off, log + off))
            report = report.changed(interval=(exp(log - off), exp(log + off)))
    if report.log_bounds is not None and report.log_bounds[1] < math.inf:
        least, most = report.log_bounds
        low = min(exp(least), sys.float_info.max) * (1.0 - 2.0**-50)
        high = exp(most) * (1.0 + 2.0**-50) + sys.float_info.min
        report = report.changed(bounds=(low, high))
        if report.error is None and log < math.inf:  # the bounds limit the error
            report = report.changed(error=max(value - low, high - value))
            if least > -math.inf:
                in_logs = in_logs.changed(error=max(log - least, most - log))
    return report, in_logs


def exp(log: float) -> float:
    """The value whose logarithm this is; infinity where it is beyond the range of floats."""
    return math.exp(log) if log < 709.0 else math.inf
