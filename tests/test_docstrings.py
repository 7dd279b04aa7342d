"""What `help` and the reference say: arguments, errors and an example of everything that takes arguments."""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pgm
from pgm import results
from pgm.adapters.quality import ClusterQuality
from pgm.cpds.own_parameters import OwnParameters
from pgm.graphs import CPDAG, AdjustmentSets, Comparison, Independencies, JunctionTree
from pgm.inference.asking.compiled_query import CompiledQuery
from pgm.inference.engines.interface import InterfacePlan
from pgm.inference.engines.plan import Plan
from pgm.inference.insight.credible import CredibleAnswer
from pgm.inference.insight.curve import Curve
from pgm.inference.insight.explanation import AnswerExplanation, Finding
from pgm.inference.insight.informing import InformationGains
from pgm.inference.insight.map_ranges import MapRange, MapSensitivity
from pgm.inference.insight.other_findings import RelevantExplanation, RelevantExplanations, Turn
from pgm.inference.insight.questioning import Diagnosis, DiagnosisStep, NextQuestion
from pgm.inference.insight.sensitivity import AnswerSensitivity
from pgm.inference.insight.shapley import ShapleyValues
from pgm.inference.insight.surprise import OddCell, Surprises
from pgm.inference.insight.tuning import Change, Tuning
from pgm.inference.insight.two_parameters import Surface
from pgm.io.bundled import BundledNetworks
from pgm.models.beliefs import TableBelief
from pgm.models.causal.causation import Causation
from pgm.models.causal.counterfactuals import Counterfactual
from pgm.models.causal.effect_bounds import EffectBounds
from pgm.models.causal.effect_range import EffectRange
from pgm.models.causal.effects import CausalEffect
from pgm.models.causal.estimation import Estimate
from pgm.models.causal.identified import Identified
from pgm.models.classifiers.decisions import Decisions
from pgm.models.decision.alternatives import Alternatives
from pgm.models.decision.evaluation import Evaluation
from pgm.models.decision.information import ValuesOfInformation
from pgm.models.decision.parameters import Parameter
from pgm.models.decision.risk import RiskProfile
from pgm.models.decision.rule import Rule
from pgm.models.decision.sensitivity import Effect, Segment, Sensitivities, Sensitivity
from pgm.models.decision.sensitivity_map import SensitivityMap
from pgm.models.decision.solving import DecisionPlan
from pgm.models.decision.strategy import Branch, Strategy
from pgm.models.decision.utilities import Utility
from pgm.models.distances import Distance
from pgm.models.dynamic.hmm_posterior import HMMPosterior, ParameterDraws
from pgm.models.dynamic.hmm_selection import StateSelection
from pgm.models.dynamic.hmm_stream import HMMStream
from pgm.models.dynamic.linear_stream import LinearStream
from pgm.models.dynamic.network_stream import NetworkStream
from pgm.models.dynamic.nonlinear_stream import NonlinearStream
from pgm.models.junction_tree import CliqueTree, Message
from pgm.models.markov_network import Potentials
from pgm.models.mixtures import ComponentSelection
from pgm.models.potentials import Potential
from pgm.models.structure_data import ArcStrengths
from pgm.results.search_trace import SearchStep, SearchTrace

ROOT = Path(__file__).parents[1]
REFERENCE = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.rst")
)
PUBLIC = [getattr(pgm, name) for name in pgm.__all__]
PUBLIC += [getattr(pgm.components, name) for name in pgm.components.__all__]
PUBLIC += [getattr(pgm.priors, name) for name in pgm.priors.__all__]
PUBLIC += [getattr(pgm.filters, name) for name in pgm.filters.__all__]
PUBLIC += [getattr(pgm.adapters, name) for name in pgm.adapters.__all__]
PUBLIC += [getattr(pgm.evaluation, name) for name in pgm.evaluation.__all__]
FUNCTIONS = [each for each in PUBLIC if inspect.isfunction(each)]
RECEIVED = [
    *(results.Logarithm, results.Information, results.RankedAssignments, results.Intervals, results.Course),
    *(results.Trace, results.MixedMarginals, results.MixedAssignment, Plan, JunctionTree, CliqueTree),
    *(results.StateBeliefs, results.StatePath, results.SampledSequence, results.SequenceForecast),
    *(results.PerSequence, results.FitReport),
    *(CPDAG, Comparison, pgm.LearnedStructure, pgm.LearnedTransitions, ArcStrengths, SearchTrace, SearchStep),
    *(results.PerSequence, results.FitReport, results.JointBeliefs, results.JointPath),
    *(Message, Potential, Potentials, CompiledQuery, Independencies, BundledNetworks),
    *(results.Filtered, results.Smoothed, results.Forecast, results.GaussianPath),
    TableBelief,
    *(AnswerExplanation, Finding, InformationGains, ShapleyValues, Surface),
    *(
        RelevantExplanation,
        RelevantExplanations,
        Turn,
        Diagnosis,
        NextQuestion,
        DiagnosisStep,
        OddCell,
        Surprises,
    ),
    *(AnswerSensitivity, Curve, Tuning, Change, OwnParameters),
    *(AdjustmentSets, Identified, CausalEffect, Counterfactual, Distance, EffectRange, Estimate),
    *(Causation, EffectBounds, MapSensitivity, MapRange, CredibleAnswer),
    Decisions,
    *(ClusterQuality, pgm.adapters.SimilarCases, pgm.adapters.Criteria, pgm.adapters.Descent),
    *(pgm.adapters.Separability, pgm.adapters.SolutionRegion, pgm.adapters.WeightTrace),
    *(pgm.evaluation.Regions, pgm.evaluation.DecisionRates, pgm.evaluation.Decided, pgm.evaluation.Curves),
    *(pgm.evaluation.ErrorEstimates, pgm.evaluation.Estimated, pgm.evaluation.ROC, pgm.evaluation.ROCs),
    *(pgm.evaluation.Calibrations, pgm.evaluation.Calibrated),
    ComponentSelection,
    *(results.SampledSeries, LinearStream, HMMStream),
    *(results.ExpectedUtility, Rule, Evaluation, ValuesOfInformation, DecisionPlan, Utility, RiskProfile),
    *(Alternatives, Sensitivities, Sensitivity, SensitivityMap, Strategy, Branch, Segment, Effect, Parameter),
    *(results.NetworkBeliefs, results.NetworkCourse, results.SampledSteps, InterfacePlan),
    *(results.SmoothedPaths, NonlinearStream, results.SwitchingFiltered, results.SwitchingSmoothed),
    *(results.SwitchingForecast, results.SampledRegimes, results.ChainBeliefs),
    *(results.NetworkBeliefs, results.NetworkCourse, results.SampledSteps, InterfacePlan, NetworkStream),
    *(results.SampledSeries, LinearStream, HMMStream, StateSelection, HMMPosterior, ParameterDraws),
]
CLASSES = list(
    dict.fromkeys(
        each
        for each in [
            *PUBLIC,
            *RECEIVED,
            *pgm.engines.ENGINES.values(),
            *pgm.scores.SCORES.values(),
            *pgm.searches.SEARCHES.values(),
            *pgm.independence.TESTS.values(),
        ]
        if inspect.isclass(each) and not issubclass(each, Exception)
    )
)


# Called by pgm itself, by whoever writes a distribution or an engine, or refused because results are values.
MACHINERY = {
    *("CPD.bind", "CPD.factor", "CPD.rows", "CPD.renamed", "LinearGaussian.of", "LinearGaussian.select"),
    *("CPD.factors", "CPD.expected", "CPD.causes", "CPD.outcomes", "CPD.listed_rows", "TableCPD.trusted"),
    *("DefaultCPD.trusted", "Deterministic.trusted", "NoisyMax.trusted", "LinearGaussian.density"),
    *(
        "Intervals.changed",
        "Intervals.cells",
        "Rule.of",
        "ExponentialUtility.disutility",
        "ExponentialUtility.certain",
        "Course.moved",
    ),
    *("FitReport.changed", "LeftToRight.mask", "LeftToRight.first", "Banded.mask", "Banded.first"),
    *(
        f"{cls}.{name}"
        for cls in ("Categorical", "Gaussian", "StateDistribution")
        for name in "n_free is_value read log_rows gathered draw filled collapsed expected_log pseudo "
        "first_guess with_parameters at".split()
    ),
    *("PseudoCounts.pseudo", "Conjugate.takes", "Conjugate.fitted", "Conjugate.log_prior", "Decisions.of"),
    *(
        "Gaussian.collapse",
        "GaussianMixture.collapse",
        "StudentT.collapse",
        "Product.collapse",
        "Bernoulli.yes",
    ),
    *(
        f"{cls}.{name}"
        for cls in ("Codebook", "ClassifierEmission")
        for name in "n_free read log_rows gathered fitted draw filled collapsed expected_log pseudo "
        "first_guess with_parameters at".split()
    ),
    *(f"{cls}.below" for cls in ("Poisson", "Bernoulli", "GaussianMixture", "StudentT", "Multinomial")),
    *(
        "PseudoCounts.pseudo",
        "Conjugate.takes",
        "Conjugate.fitted",
        "Conjugate.log_prior",
        "Conjugate.rows_of",
    ),
    *("Poisson.at", "Bernoulli.at", "Multinomial.at", "GaussianMixture.at", "Product.at"),
    *("Score.per_parameter", "BIC.per_parameter", "AIC.per_parameter", "Search.find"),
    *(
        f"{cls}.{name}"
        for cls in ("Softmax", "Regression", "ByInput", "Estimators")
        for name in ("is_value", "to_parts", "from_parts")
    ),
    *("Report.changed", "Result.with_report", "Density.only_moments"),
    *("Variable.of", "CliqueTree.of", "Samples.update", "Samples.setdefault", "Samples.pop"),
    *("Questions.factors", "Questions.densities", "Questions.scores"),
}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and methods of public classes by the class that says first what they do."""
    yield from ((f"pgm.{function.__name__}", function) for function in FUNCTIONS)
    for cls in dict.fromkeys(base for each in CLASSES for base in reversed(each.__mro__)):
        if not cls.__module__.startswith("pgm."):
            continue
        for name, found in vars(cls).items():
            inner = found.__func__ if isinstance(found, classmethod | staticmethod) else found
            first = next(base for base in reversed(cls.__mro__) if name in vars(base))
            if inspect.isfunction(inner) and not name.startswith("_") and first is cls:
                yield f"{cls.__name__}.{name}", inner


def arguments(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


WITH_ARGUMENTS = {
    name: function
    for name, function in methods()
    if arguments(function) and name not in MACHINERY and not name.endswith(".plot")
}
PICTURES = {name: function for name, function in methods() if name.endswith(".plot")}


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """The text of a docstring by the headings in it; what comes before is under "", examples under ">>>"."""
    found = {"": ""}
    at = ""
    for line in (inspect.getdoc(function) or "").splitlines():
        if line in ("Args:", "Raises:", "Returns:"):
            at = line[:-1]
        elif line.startswith(">>>"):
            at = ">>>"
        elif line and not line.startswith(" ") and at not in ("", ">>>"):
            at = ""
        found[at] = found.get(at, "") + line + "\n"
    return found


@pytest.mark.parametrize("name", WITH_ARGUMENTS)
def test_help_says_the_arguments_the_errors_and_an_example(name: str) -> None:
    function = WITH_ARGUMENTS[name]
    said = sections(function)
    assert set(said) == {"", "Args", "Raises", ">>>"}
    described = re.findall(r"^ {4}(\w+):", said["Args"], re.MULTILINE)
    assert described == arguments(function)
    for error in re.findall(r"^ {4}([\w, ]+):", said["Raises"], re.MULTILINE):
        for one in error.split(", "):
            assert issubclass(getattr(pgm, one, None) or getattr(builtins, one), Exception), one


def test_evidence_is_described_where_it_is_asked_for() -> None:
    said = sections(pgm.BayesianNetwork.query)["Args"]
    for kind in ("OneOf", "Not", "Likelihood", "Soft", "Interval", "None", "a number"):
        assert kind in said


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_say_what_they_show(name: str) -> None:
    assert "eturn" in (inspect.getdoc(PICTURES[name]) or ""), (
        "of what they draw, and that they return the Axes"
    )


def received(function: Callable[..., Any]) -> set[type]:
    """The classes of pgm in what a function is annotated to return."""
    home = vars(importlib.import_module(inspect.unwrap(function).__module__))
    lazy = {cls.__name__: cls for cls in CLASSES}
    text = str(inspect.unwrap(function).__annotations__.get("return", ""))
    names = re.findall(r"[A-Za-z_]+", text)
    found = [home.get(name) or lazy.get(name) for name in names]
    return {each for each in found if inspect.isclass(each) and each.__module__.startswith("pgm.")}


def test_every_type_that_users_receive_is_in_the_reference() -> None:
    getters = [p.fget for cls in CLASSES for p in vars(cls).values() if isinstance(p, property) and p.fget]
    internal = {name.rpartition(".")[2] for name in MACHINERY}
    every = [*FUNCTIONS, *(f for cls in CLASSES for f in vars(cls).values() if inspect.isfunction(f))]
    named = [f for f in every if f.__name__ not in internal and not re.match("_[^_]", f.__name__)]
    types = {each for function in [*named, *getters] for each in received(function)} | set(CLASSES)
    types = {each for each in types if not each.__name__.startswith("_")}
    listed = set(re.findall(r"^\.\. auto\w+:: pgm[.\w]*\.(\w+)$", REFERENCE, re.MULTILINE))
    assert not sorted({each.__name__ for each in types} - listed)
    of_fields = {
        "Bundled",
        "Discriminant",
        "Profile",
        "Settings",
        "Variables",
    }  # of a field, a block or a view
    of_fields |= {"RowCounts", "Configurations", "ProductStatistics", "StudentStatistics"}
    errors = {each.__name__ for each in PUBLIC if inspect.isclass(each) and issubclass(each, Exception)}
    functions = {each.__name__ for each in FUNCTIONS}
    assert listed - errors - functions - {each.__name__ for each in types} <= {*of_fields, "FactorGraph"}


# Made by questions, never by users.
ANSWERS = {cls for cls in CLASSES if cls in RECEIVED or cls.__module__.startswith("pgm.results.")}
MADE = {cls.__name__: cls for cls in CLASSES if cls not in ANSWERS and cls is not pgm.CPD}


@pytest.mark.parametrize("name", MADE)
def test_help_of_a_class_says_what_it_is_made_of(name: str) -> None:
    said = sections(MADE[name])
    assert ">>>" in said
    described = re.findall(r"^ {4}(\w+):", said.get("Args", ""), re.MULTILINE)
    assert described == list(inspect.signature(MADE[name]).parameters)
