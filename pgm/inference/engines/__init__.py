"""How questions are answered. A name such as "exact" stands for an object with options.

ENGINES is the only list of them. An engine needs a folder with its options (a subclass of `Engine`) and its
`prepare`, an entry in this list, and a page in docs/reference. Messages, tests and docs find it here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from pgm.errors import InvalidArgument, InvalidEvidence, listed, nearest, shown
from pgm.inference.engines.auto import Auto
from pgm.inference.engines.bounds import Bounds
from pgm.inference.engines.branching import BranchAndBound, Srmp
from pgm.inference.engines.clique_sequence import CliqueSequence
from pgm.inference.engines.conditioning import Conditioned
from pgm.inference.engines.cuts import Cuts, Expansion
from pgm.inference.engines.elimination import Elimination
from pgm.inference.engines.exact import Exact
from pgm.inference.engines.gaussian import Quadrature, Variational
from pgm.inference.engines.loopy import Loopy
from pgm.inference.engines.mean_field import MeanField
from pgm.inference.engines.options import Engine
from pgm.inference.engines.portfolio import Best
from pgm.inference.engines.sampling import (
    Gibbs,
    Importance,
    LikelihoodWeighting,
    Rejection,
    Sampler,
    SwendsenWang,
)
from pgm.inference.engines.search import Search
from pgm.inference.trees.needs import Question

if TYPE_CHECKING:
    from pgm.evidence import Observed
    from pgm.inference.engines.model_snapshot import ModelSnapshot
    from pgm.runtime.clock import Clock

_AUTO = Auto()
ENGINES: dict[str, type[Engine]] = {
    kind.name: kind
    for kind in (
        Exact,
        Elimination,
        Search,
        Conditioned,
        Cuts,
        Expansion,
        Srmp,
        BranchAndBound,
        Loopy,
        MeanField,
        Bounds,
        CliqueSequence,
        Rejection,
        LikelihoodWeighting,
        Importance,
        Gibbs,
        SwendsenWang,
        Best,
        Quadrature,
        Variational,
    )
}


def prepare(
    options: Engine,
    compiled: ModelSnapshot,
    observed: Observed,
    about: Sequence[str] | None,
    clock: Clock,
    *,
    fit: bool = True,
) -> Any:
    """Prepare a model and its evidence for questions to an engine.

    Args:
        options: which engine, and how.
        compiled: the model.
        observed: the evidence.
        about: the names of the variables asked about, empty for the probability of the evidence; None: all.
        clock: the clock of the question.
        fit: whether to fit the marginals that `Soft` evidence asks for; False if only a plan is wanted.

    Returns:
        An object with the capabilities that the options list in `answers`; see capabilities.py.
    """
    if observed.soft and not options.takes_soft:
        takers = [
            name
            for name, kind in ENGINES.items()
            if kind.takes_soft and set(kind.answers) & set(options.answers)
        ]
        raise InvalidEvidence(
            f'engine="{options.name}" does not take pgm.Soft, given here for {listed(list(observed.soft))}; '
            f"these do: {listed(takers)}. Or use pgm.Likelihood for uncertain evidence: for one variable, "
            "with each wanted probability divided by the present one (`query` without it), the answer is the "
            "same."
        )
    if compiled.linked is not None and not options.takes_scores:
        from pgm.inference.engines.gaussian.scores import exactly

        compiled = exactly(compiled, observed, about)
        if compiled.gaussians is not None and not compiled.gaussians.n:  # only tables are left
            compiled = replace(compiled, gaussians=None, factors=(), linked=None)
    return code_of(options.module).prepare(options, compiled, observed, about, clock, fit=fit)


code_of = cache(importlib.import_module)  # an engine's `module`


def find(engine: str | Engine, question: Question) -> Engine:
    """The engine of this name; "auto" answers exactly, or raises an error that says what that would take.

    Raises:
        InvalidArgument: there is no such engine, or it does not answer this kind of question.
    """
    if engine == "auto":
        found: Engine = _AUTO
    elif isinstance(engine, Engine):
        found = engine
    elif isinstance(engine, str) and engine in ENGINES:
        found = ENGINES[engine]()
    else:
        passed: object = engine
        if isinstance(passed, type) and passed in ENGINES.values():
            name = passed.__name__
            raise InvalidArgument(f"engine= takes an engine, and {name} is the class of one: write {name}().")
        names = ", ".join(repr(name) for name in ("auto", *ENGINES))
        raise InvalidArgument(f"engine={shown(engine)} is not one of {names}.{nearest(engine, ENGINES)}")
    if question not in found.answers:
        own = ", ".join(f"`{one}`" for one in found.answers if one != "plan")
        others = ", ".join(f'"{name}"' for name, kind in ENGINES.items() if question in kind.answers)
        raise InvalidArgument(
            f'engine="{found.name}" does not answer {_WORDS.get(question, f"`{question}`")}; it answers '
            f"{own}. This question is answered by {others}."
        )
    return found


@cache
def after_the_tree(question: Question, timed: bool) -> tuple[type[Engine], ...]:
    """The engines that "auto" asks in turn if no tree fits; `timed`: whether there is a time limit."""
    kinds = [kind for kind in ENGINES.values() if question in kind.turns]
    late = [kind for kind in kinds if (turn := kind.turns[question]).rank and (timed or not turn.timed)]
    return tuple(sorted(late, key=lambda kind: kind.turns[question].rank))


@cache
def instead(approximates: bool, question: Question) -> str:
    """What to try when an engine runs out of time, as the end of a message; empty if it approximates."""
    return "" if approximates or question == "plan" else remedies(question)


def remedies(question: Question | None) -> str:
    """The approximate engines that answer a question, as the end of a message; may be empty."""
    names = [f'"{n}"' for n, kind in ENGINES.items() if kind.approximates and question in kind.answers]
    if not names:
        return ""
    several = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    return f" engine={several} would approximate it and say how well."


_WORDS: dict[str, str] = {
    "k_best": "`k_best` (it finds one answer, not several)",
    "marginal MAP": "`map` with targets= that leave variables to sum out",
    "plan": "`plan` (there is no tree to plan)",
}

__all__ = [
    "ENGINES",
    "Auto",
    "Best",
    "Bounds",
    "BranchAndBound",
    "CliqueSequence",
    "Conditioned",
    "Cuts",
    "Elimination",
    "Engine",
    "Exact",
    "Expansion",
    "Gibbs",
    "Importance",
    "LikelihoodWeighting",
    "Loopy",
    "MeanField",
    "Quadrature",
    "Question",
    "Rejection",
    "Sampler",
    "Search",
    "Srmp",
    "SwendsenWang",
    "Variational",
    "after_the_tree",
    "code_of",
    "find",
    "instead",
    "prepare",
    "remedies",
]
