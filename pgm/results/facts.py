"""The facts that engines add to a report: what each is called, how it is printed, and how several combine.

An engine that measures something new adds a line to `FACTS`; nothing else needs to know about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgm.errors import listed

if TYPE_CHECKING:
    from pgm.results.report import Report


def _first(values: Sequence[Any]) -> Any:
    return values[0]


def _none(values: Sequence[Any]) -> None:
    """A fact about the parts of an answer that does not hold for the whole."""


def _smallest(values: Sequence[Any]) -> Any:
    return min((value for value in values if value is not None), default=None)


def _largest(values: Sequence[Any]) -> Any:
    return max((value for value in values if value is not None), default=None)


def _root_of_squares(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.hypot(*known) if len(known) == len(values) else None


def _farthest_from_rest(values: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return max(values, key=lambda changes: changes[-1] if changes else 0.0)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that some engines measure."""

    name: str  # in print
    text: Callable[[Any, Report], str] | None = None  # how it is printed; None, or "": it is not
    missing: Any = None  # its value in a report that does not have it
    merged: Callable[[Sequence[Any]], Any] = _first  # the fact of an answer from those of its parts
    is_count: bool = False  # printed as "12 iterations"
    is_record: bool = False  # long: neither compared nor in the one-line form; to_dict has only `intervals`


def _count(name: str, merged: Callable[[Sequence[Any]], Any] = sum) -> Fact:
    return Fact(name, lambda value, _: f"{value:,}", 0, merged, is_count=True)


def _log_bounds(ends: tuple[float, float], report: Report) -> str:
    bounds = report.bounds
    if bounds is not None and 1e-300 < bounds[1] < math.inf:
        return ""  # the bounds themselves can be read
    return f"at least {ends[0]:.6g}" + (f" and at most {ends[1]:.6g}" if ends[1] < math.inf else "")


def _intervals(each: Any, _: Report) -> str:
    return f"{'bounds' if each.sure else '95 % intervals'} for each of {each.low.size:,} values"


def _chains(chains: Any, _: Report) -> str:
    if not chains:
        return ""
    one = next(iter(chains.values()))
    return f"{one.shape[0]} of {one.shape[1]:,} states: {listed(list(chains))}"


def _course(course: Any, _: Report) -> str:
    return f"{len(course.at):,} times, up to {course.at[-1]:.3g} {course.unit}" if len(course.at) else ""


# In the order in which they are printed.
FACTS: dict[str, Fact] = {
    # Contains the answer for 95 of 100 seeds.
    "interval": Fact("95 % interval", lambda ends, _: f"{ends[0]:.6g} to {ends[1]:.6g}"),
    # Bounds that always contain the answer.
    "bounds": Fact("between", lambda ends, _: f"{ends[0]:.6g} and {ends[1]:.6g}", merged=_none),
    # Of a policy that may not be the best: its value, and an upper bound on that of the best one.
    "value": Fact("value", merged=_none),
    "bound": Fact("bound", merged=_none),
    "gap": Fact("gap", merged=_none),
    # The smallest of all values of the answer.
    "effective_sample_size": Fact("effective sample size", lambda size, _: f"{size:,.0f}", merged=_smallest),
    # The largest, where chains were run.
    "r_hat": Fact("R-hat", lambda value, _: f"{value:.3f}", merged=_largest),
    # Drawn, including those thrown away.
    "samples": _count("samples"),
    # Of the logarithm of P(given), or of the partition function: its bounds, and its standard error.
    "log_bounds": Fact("log P(given)", _log_bounds, merged=_none),
    "log_error": Fact("log error", merged=_root_of_squares),
    # Where a function was replaced by its tangent: "as given", or "by differences".
    "derivatives": Fact("derivatives", lambda how, _: str(how)),
    # Of the grid that was summed over.
    "points": _count("points", _first),
    # Separate parts of the distribution that were found, and mixed.
    "modes": Fact("modes", missing=1),
    "iterations": _count("iterations"),
    # The largest change of a message, after each iteration.
    "residuals": Fact("residual", lambda each, _: f"{each[-1]:.1e}", (), _farthest_from_rest),
    # `bounds` or `interval` of each value.
    "intervals": Fact("intervals", _intervals, merged=_none, is_record=True),
    # For each traced variable the indices of its states, (chains, draws).
    "chains": Fact("chains", _chains, is_record=True),
    # The bounds over time.
    "course": Fact("course", _course, is_record=True),
    # What an engine did step by step, for teaching.
    "trace": Fact("trace", lambda trace, _: f"{len(trace):,} rows", is_record=True),
}
