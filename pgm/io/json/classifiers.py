"""Classifiers in JSON: their options, and what they have learned, all of it arrays, states and names.

The class of a classifier is one of a list here; a file names it, and says nothing that is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.cpds import CPD, KINDS
from pgm.distributions import Gaussian
from pgm.distributions.parts import Part
from pgm.distributions.student import Student
from pgm.errors import FileFormatError, InvalidArgument, PGMError, TooLarge, listed, nearest, shown
from pgm.models.classifiers.aode import AODEClassifier
from pgm.models.classifiers.augmented import KDependenceClassifier, TANClassifier
from pgm.models.classifiers.column_terms import Terms
from pgm.models.classifiers.discriminant_analysis import DiscriminantAnalysis, discriminants
from pgm.models.classifiers.mixture_classifier import MixtureClassifier
from pgm.models.classifiers.naive_bayes import NaiveBayes
from pgm.models.classifiers.network_classifier import NetworkClassifier
from pgm.models.classifiers.normal_rows import Normals
from pgm.models.classifiers.row_classifier import RowClassifier
from pgm.variables import Variable

from .learned_statistics import numbers, statistics, written
from .networks import read_cpd, read_network, read_variable, write_network, written_cpd
from .states import write_domain
from .values import read_value, write_value

CLASSIFIER = "classifier"
CLASSES: dict[str, type[RowClassifier]] = {
    kind.__name__: kind
    for kind in (
        *(NaiveBayes, TANClassifier, KDependenceClassifier, AODEClassifier, NetworkClassifier),
        *(DiscriminantAnalysis, MixtureClassifier),
    )
}


def write(told: RowClassifier) -> dict[str, Any]:
    """Return the classifier as the object of its file."""
    name = type(told).__name__
    if CLASSES.get(name) is not type(told):
        raise InvalidArgument(f"A {name} has no JSON form; there are those of {listed(CLASSES)}.")
    if not hasattr(told, "classes_"):
        raise told._missing_fit("fit it before it is written")
    options = {
        option: write_value(value, f"The option {option}= of the {name}")
        for option, value in told.get_params(deep=False).items()
    }
    learned = {
        "class": {"name": told._target.name, **write_domain(told._target.name, told._target.domain)},
        "plain": told.classes_.dtype.kind != "O",
        "class_prior": told.class_prior_.tolist(),
        "named": told._named,
        "features": told.n_features_in_,
        "columns": [_column(v) for v in told._variables.values()],
        "ranges": {name: list(ends) for name, ends in told._ranges.items()},
    }
    if hasattr(told, "feature_names_in_"):
        learned["names"] = told.feature_names_in_.tolist()
    return {"kind": name, "options": options, **learned, "learned": _learned(told)}


def _column(variable: Variable) -> dict[str, Any]:
    known = {} if variable.continuous else write_domain(variable.name, variable.domain)
    return {"name": variable.name, **known}


def _learned(told: Any) -> dict[str, Any]:
    """What this kind of classifier knows of rows."""
    if isinstance(told, NaiveBayes):
        return {
            "nodes": _nodes(told._cpds),
            "students": {name: [one.to_dict() for one in each] for name, each in told._students.items()},
            "counted": list(told._counted),
            "shares": None if told._shares is None else told._shares.tolist(),
            "statistics": {name: written(one) for name, one in told._statistics.items()},
            "weight": told._weight.tolist(),
        }
    if isinstance(told, AODEClassifier):
        return {"networks": {name: _nodes(cpds) for name, cpds in told._cpds.items()}}
    if isinstance(told, NetworkClassifier):
        return {"network": write_network(told.network_, expand=False)}
    if isinstance(told, DiscriminantAnalysis):
        return {
            "means": told.means_.tolist(),
            "covariances": told.covariances_.tolist(),
            "var_smoothing": told.var_smoothing_,
            "students": None if told._students is None else [one.to_dict() for one in told._students],
        }
    if isinstance(told, MixtureClassifier):
        return {
            "weights": told.weights_.tolist(),
            "means": told.means_.tolist(),
            "covariances": told.covariances_.tolist(),
            "iterations": told.n_iter_,
        }
    return {"nodes": _nodes(told._cpds)}


def _nodes(cpds: Mapping[str, CPD]) -> list[dict[str, Any]]:
    return [
        {"name": name, "parents": [v.name for v in cpd.given], **written_cpd(cpd, False)}
        for name, cpd in cpds.items()
    ]


# --- reading ---


def read(part: Part) -> RowClassifier:
    """Return the classifier of a file."""
    value = part.members("a model", ["pgm", CLASSIFIER], ["name", "about"])
    for key in ("name", "about"):
        if key in value:
            part.at(key).text("a text")
    inside = part.at(CLASSIFIER)
    keys = ["kind", "options", "class", "plain", "class_prior", "named", "features", "columns", "ranges"]
    found = inside.members("a classifier", [*keys, "learned"], ["names"])
    name = inside.at("kind").text("the kind of a classifier")
    if name not in CLASSES:
        inside.fail(
            f"{shown(name)} is not a kind of classifier; there are "
            f"{listed(CLASSES)}.{nearest(name, CLASSES)}",
            "kind",
        )
    options = inside.at("options")
    options.members("the options", [], CLASSES[name]._options())
    told: Any = CLASSES[name](**{key: read_value(options.at(key)) for key in options.value})
    target = read_variable(inside.at("class"), [])
    if target.continuous or target.card < 2:
        inside.fail("a class has two states or more", "class")
    columns: dict[str, Variable] = {}
    for i in range(len(inside.at("columns").elements("a list of columns"))):
        column = read_variable(inside.at("columns", i), [])
        if column.name in columns or column.name == target.name:
            inside.fail(f"a second column {shown(column.name)}", "columns", i)
        columns[column.name] = column
    plain = inside.at("plain").truth("whether the classes are of one type")
    shares = inside.at("class_prior").numbers(target.card, "P(class)")
    if (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-6:
        inside.fail("P(class) has probabilities that are not negative and sum to one", "class_prior")
    ranges = inside.at("ranges")
    ranges.members("the ranges of columns", [], columns)
    ends = {n: ranges.at(n).numbers(2, "the range of a column").tolist() for n in ranges.value}
    about = {
        "_target": target,
        "_variables": columns,
        "classes_": _classes(target, plain),
        "class_prior_": shares,
        "fit_report_": None,
        "n_features_in_": inside.at("features").whole("how many columns there are", 1),
        "_named": inside.at("named").truth("whether columns go by name"),
        "_ranges": {name: tuple(pair) for name, pair in ends.items()},
    }
    if "names" in found:
        about["feature_names_in_"] = np.array(inside.at("names").names("names of columns"), dtype=object)
    vars(told).update(about)
    try:
        vars(told).update(_restored(told, inside.at("learned")))
    except (FileFormatError, TooLarge):
        raise
    except PGMError as error:
        inside.fail(str(error), "learned")
    return told  # type: ignore[no-any-return]


def _classes(target: Variable, plain: bool) -> np.ndarray:
    if plain:
        return np.array(target.states)
    found = np.empty(target.card, dtype=object)
    found[:] = target.states
    return found


def _restored(told: Any, part: Part) -> dict[str, Any]:
    """What the classifier has learned, as its attributes."""
    k, columns, target = told._target.card, told._variables, told._target
    if isinstance(told, NaiveBayes):
        return _naive_bayes(told, part)
    if isinstance(told, AODEClassifier):
        part.members("what was learned", ["networks"])
        inside = part.at("networks")
        inside.members("the networks", list(columns))
        each = {name: _read_nodes(inside.at(name), told, list(columns)) for name in columns}
        return told._ready(target, told.class_prior_, each)
    if isinstance(told, NetworkClassifier):
        part.members("what was learned", ["network"])
        net = read_network(part.at("network"), "")
        if target.name not in net or net.variables[target.name].continuous:
            part.fail(f"the network has no class {shown(target.name)}", "network")
        found = told._of(net, target.name)
        if found["_target"] != target:
            part.fail(f"{shown(target.name)} has other states in the network", "network")
        return found
    if isinstance(told, DiscriminantAnalysis):
        part.members("what was learned", ["means", "covariances", "var_smoothing", "students"])
        d = len(columns)
        means, covariances = numbers(part, "means", (k, d)), numbers(part, "covariances", (k, d, d))
        students = None
        if part.at("students").value is not None:
            those = part.at("students")
            if len(those.elements("a list of Student's distributions")) != k:
                those.fail(f"one for each of {k} classes expected")
            students = [_student(those.at(i), (d,)) for i in range(k)]
        else:
            Gaussian(means, covariance=covariances)
        normals = Normals(means, covariances)
        shared = bool(told.shared)
        return {
            "means_": means,
            "covariances_": covariances,
            "discriminants_": {} if students else discriminants(normals, target, told.class_prior_, shared),
            "var_smoothing_": part.at("var_smoothing").number("a share of variances"),
            "_students": students,
        }
    if isinstance(told, MixtureClassifier):
        part.members("what was learned", ["weights", "means", "covariances", "iterations"])
        rows = part.at("weights").elements("the weights of components")
        d, m = len(columns), len(rows[0]) if rows and isinstance(rows[0], list) else 1
        weights = numbers(part, "weights", (k, m))
        if (weights < 0.0).any() or (np.abs(weights.sum(axis=1) - 1.0) > 1e-6).any():
            part.fail("the weights of a class are not negative and sum to one", "weights")
        means, covariances = numbers(part, "means", (k, m, d)), numbers(part, "covariances", (k, m, d, d))
        Gaussian(means.reshape(-1, d), covariance=covariances.reshape(-1, d, d))
        steps = part.at("iterations").whole("how many steps there were")
        return {"weights_": weights, "means_": means, "covariances_": covariances, "n_iter_": steps}
    part.members("what was learned", ["nodes"])
    cpds = _read_nodes(part.at("nodes"), told, list(columns))
    return told._ready(target, told.class_prior_, cpds)  # type: ignore[no-any-return]


def _naive_bayes(told: Any, part: Part) -> dict[str, Any]:
    k, columns, target = told._target.card, told._variables, told._target
    part.members("what was learned", ["nodes", "students", "counted", "shares", "statistics", "weight"])
    counted = part.at("counted").names("names of columns")
    inside = part.at("students")
    inside.members("Student's distributions", [], columns)
    students = {}
    for name in inside.value:
        if len(inside.at(name).elements("Student's distributions")) != k:
            inside.fail(f"one for each of {k} classes expected", name)
        students[name] = [_student(inside.at(name, i), ()) for i in range(k)]
    cpds = _read_nodes(part.at("nodes"), told, [n for n in columns if n not in counted and n not in students])
    shares = None if part.value["shares"] is None else numbers(part, "shares", (k, len(counted)))
    sums = part.at("statistics")
    sums.members("the statistics", list(columns))
    return {
        "_cpds": cpds,
        "_students": students,
        "_counted": counted,
        "_shares": shares,
        "_terms": Terms.of(target.card, cpds, students, counted, shares),
        "_statistics": {
            name: _read_statistics(sums.at(name), k, v, name in counted) for name, v in columns.items()
        },
        "_weight": part.at("weight").numbers(k, "how much each class weighs"),
    }


def _read_statistics(part: Part, k: int, variable: Variable, counted: bool) -> Any:
    if counted or not variable.continuous:
        return statistics(part, (k,) if counted else (k, variable.card))
    return statistics(part, (k,), 1)


def _read_nodes(part: Part, told: Any, names: list[str]) -> dict[str, CPD]:
    """The distributions of columns, each given the class and others."""
    variables = {told._target.name: told._target, **told._variables}
    cpds: dict[str, CPD] = {}
    for i in range(len(part.elements("a list of nodes"))):
        node = part.at(i)
        node.members("a node", ["name", "parents"], KINDS)
        name = node.at("name").text("the name of a column")
        if name not in names or name in cpds:
            node.fail(f"{shown(name)} is not a column, or a second one of this name.{nearest(name, names)}")
        cpd = read_cpd(node, variables)
        if not cpd.given or cpd.given[0] != told._target or cpd.kind not in ("table", "linear-gaussian"):
            node.fail("a table or a linear Gaussian whose first parent is the class expected")
        cpds[name] = cpd
    if missing := [name for name in names if name not in cpds]:
        part.fail(f"there is no node {listed(missing)}")
    return cpds


def _student(part: Part, shape: tuple[int, ...]) -> Student:
    part.members("Student's distribution", Student.fields)
    df = part.at("df").number("degrees of freedom")
    mean, scale = numbers(part, "mean", shape), numbers(part, "scale", shape * 2)
    try:
        return Student(df, mean, scale)
    except PGMError as error:
        part.fail(str(error))
