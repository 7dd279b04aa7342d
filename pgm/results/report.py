"""How an answer was made, and what was measured on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pgm.errors import listed
from pgm.printing import html_facts, text_facts
from pgm.results.base import Frozen, condition, new
from pgm.results.facts import FACTS
from pgm.runtime.clock import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NO_FACTS: Mapping[str, Any] = MappingProxyType({})


class Report(Frozen):
    """How an answer was made, and what was measured on the way.

    Every answer has `engine`, `exact`, `converged`, `error`, `advice`, `profile` and `given`. An error
    that was not measured is None; that of an exact answer is 0. Whatever else was measured is in `facts`, by
    name. Each fact is an attribute as well, which is None, 0 or empty where it was not measured:

    - `iterations`, and `residuals`, the largest change of a message after each; `residual` is the last;
    - `samples`, `effective_sample_size`, `r_hat`, `chains` and `log_error`, of engines that sample;
    - `interval`, which contains the answer for 95 of 100 seeds; `bounds`, which always contain it;
      `intervals`, either of them for each value of the answer; `log_bounds`, on the logarithm of P(given);
    - `points` of a grid; `modes`, separate parts of the distribution that were found; `course`, the bounds
      over time; `trace`, what was done step by step.

    >>> print(Report("loopy", exact=False, converged=False, error=3e-4, advice="raise sweeps="))
    APPROXIMATE (loopy): not converged, error 0.0003; raise sweeps=
    >>> Report("loopy", exact=False, iterations=20).iterations
    20
    """

    engine: str
    exact: bool
    converged: bool = True  # False as soon as anything but the tolerance stopped it
    error: float | None = None  # bound, estimate or standard error, in the units of the answer
    advice: str = ""
    profile: Profile  # where the time went
    given: Mapping[str, Any] | None = None  # as the user wrote it
    facts: Mapping[str, Any] = _NO_FACTS  # by the names of FACTS; only what was measured

    def __init__(
        self,
        engine: str,
        exact: bool,
        converged: bool = True,
        error: float | None = None,
        advice: str = "",
        *,
        profile: Profile | None = None,
        given: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Take what every report has, and by name the facts that this engine adds."""
        self.__dict__.update(
            engine=engine,
            exact=exact,
            converged=converged,
            error=0.0 if exact and error is None else error,
            advice=advice,
            profile=Profile() if profile is None else profile,
            given=given,
            facts=_measured(facts) if facts else _NO_FACTS,
        )

    def changed(self, **changes: Any) -> Report:
        """A copy with these fields or facts changed."""
        own = {**self.__dict__, **self.facts, **changes}
        own.pop("facts", None)
        return Report(**own)

    def __getattr__(self, name: str) -> Any:
        """A fact, or its default where it was not measured."""
        fact = FACTS.get(name)
        if fact is None:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )
        return self.facts.get(name, fact.missing)

    def __dir__(self) -> list[str]:
        """All attributes, the facts among them."""
        return sorted({*super().__dir__(), *FACTS})

    def __eq__(self, other: object) -> bool:
        """Equal except for the evidence, the profile, and long records."""
        return self._compared() == other._compared() if isinstance(other, Report) else NotImplemented

    def __hash__(self) -> int:
        """The hash of what is compared."""
        return hash(self._compared())

    def _compared(self) -> tuple[object, ...]:
        facts = tuple(self.facts.get(name) for name, fact in FACTS.items() if not fact.is_record)
        return self.engine, self.exact, self.converged, self.error, self.advice, facts

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything, the facts as a dict."""
        return {**self.__dict__, "facts": dict(self.facts)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore it."""
        self.__dict__.update(state, facts=MappingProxyType(state["facts"]))

    def __str__(self) -> str:
        """How it was made, and how long that took if it was measured."""
        return self.summary + (f"; time: {self.profile!r}" if self.profile.total else "")

    def __repr__(self) -> str:
        """A line for each thing that was measured."""
        return text_facts(self._lines())

    def _repr_html_(self) -> str:
        return html_facts(self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("engine", self.engine), ("exact", "yes" if self.exact else "no")]
        if self.given:
            lines.append(("given", condition(self.given)))
        if not self.exact:
            lines.append(("converged", "yes" if self.converged else "no"))
        lines += [(name, text) for name, text, _ in self._measured(records=True)]
        if self.advice:
            lines.append(("advice", self.advice))
        if self.profile.total:
            lines.append(("time", repr(self.profile)))
        return lines

    def plot(
        self,
        ax: Axes | None = None,
        *,
        figsize: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw how the answer came to be: chains, changes of messages, or bounds; returns the Axes.

        Args:
            ax: axes to draw on; a new figure if left out.
            figsize: width and height of a new figure in inches; the size that the content needs if left out.
            title: the title; left out, it says what is shown.
        """
        from pgm import plot

        return plot.report(self, ax, figsize=figsize, title=title)

    @property
    def residual(self) -> float | None:
        """The largest change of a message when it stopped; None for an engine that sends none."""
        return self.residuals[-1] if self.residuals else None

    @property
    def summary(self) -> str:
        """One line for the note under a table."""
        if self.exact:
            return "exact" if self.engine == "exact" else f"exact ({self.engine})"
        said = [] if self.converged else ["not converged"]
        for name, text, is_count in self._measured():
            said.append(f"{text} {name}" if is_count else f"{name} {text}")
        facts = ": " + ", ".join(said) if said else ""
        return f"APPROXIMATE ({self.engine}){facts}" + (f"; {self.advice}" if self.advice else "")

    def _measured(self, *, records: bool = False) -> list[tuple[str, str, bool]]:
        """What was measured: its name, its text, and whether it is printed as "12 iterations"."""
        found = []
        if not self.exact:
            found.append(("error", "not measured" if self.error is None else f"{self.error:.2g}", False))
        for key, fact in FACTS.items():
            if key in self.facts and fact.text is not None and (records or not fact.is_record):
                text = fact.text(self.facts[key], self)
                if text:
                    found.append((fact.name, text, fact.is_count))
        return found

    def to_dict(self) -> dict[str, Any]:
        """What was measured, as plain Python objects; facts that were not, and long records, are left out.

        The error is kept: None means that it was not measured.

        >>> Report("loopy", exact=False, iterations=20).to_dict()
        {'engine': 'loopy', 'exact': False, 'converged': True, 'error': None, 'iterations': 20}
        """
        found: dict[str, Any] = {
            "engine": self.engine,
            "exact": self.exact,
            "converged": self.converged,
            "error": self.error,
        }
        if self.advice:
            found["advice"] = self.advice
        for name, fact in FACTS.items():
            if name in self.facts and not fact.is_record:
                value = self.facts[name]
                found[name] = list(value) if isinstance(value, tuple) else value
        if self.intervals is not None:
            found["intervals"] = {"low": self.intervals.low.tolist(), "high": self.intervals.high.tolist()}
        return found


def _measured(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts that were measured."""
    if unknown := sorted(facts.keys() - FACTS.keys()):
        raise TypeError(f"no fact is called {listed(unknown)}; pgm.results.facts declares them")
    return MappingProxyType({k: v for k, v in facts.items() if v != FACTS[k].missing})


def exact_report(engine: str, profile: Profile, given: Mapping[str, Any] | None) -> Report:
    """The report of an exact answer; all else is left at the defaults of the class, which saves time."""
    made = new(Report)
    made.__dict__.update(engine=engine, exact=True, error=0.0, profile=profile, given=given)
    return made


EXACT = Report("exact", exact=True)


def merged(reports: Sequence[Report]) -> Report:
    """One report on an answer made of several: the worst error, and facts combined as `FACTS` says."""
    first = reports[0]
    if len(reports) == 1:
        return first
    errors = [r.error for r in reports]
    every = {name for r in reports for name in r.facts}
    facts = {name: FACTS[name].merged([getattr(r, name) for r in reports]) for name in every}
    return first.changed(
        exact=all(r.exact for r in reports),
        converged=all(r.converged for r in reports),
        error=None if None in errors else max(error for error in errors if error is not None),
        advice=max(reports, key=lambda r: (not r.converged, bool(r.advice))).advice,
        **facts,
    )
