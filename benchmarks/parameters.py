"""Learning numbers beside pyAgrum, pgmpy and scikit-learn: tables, a step of EM, mixtures, naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import pgm
from benchmarks.harness import PYAGRUM, Finding, Options, Report, Side, compete
from pgm.learning.counts import Counts

_SCIKIT = "scikit-learn"
_PGMPY = "pgmpy"


def run(report: Report, options: Options) -> None:
    """All races; of a peer that is not installed, none."""
    net = pgm.load_network("alarm")
    frame = pd.DataFrame(dict(net.sample(options.rows, seed=0))).astype("category")
    case = f"alarm, {len(frame):,} rows"
    with pgm.config(threads=options.threads):
        _tables(report, options, net, frame, case)
        _expectation(report, options, net, frame[: max(200, options.rows // 20)])
        _mixture(report, options)
        _naive_bayes(report, options, frame)


def _race(
    report: Report,
    options: Options,
    race: str,
    case: str,
    ours: Side,
    theirs: Side | None,
    label: str,
    wanted: float,
    compare: Any,
) -> None:
    if theirs is None or not options.wants(race):
        return
    compete(
        report, race, case, ours, theirs, questions=1, rounds=options.rounds, compare=compare, label=label
    )
    ratio = report.of(race, label)[case].ratio
    if ratio is not None:
        said = f"{race}, {case}, beside {label}"
        report.find(Finding(said, f"{ratio:.2f} times", f"{wanted:g} times", ratio >= wanted))


def _tables(report: Report, options: Options, net: Any, frame: pd.DataFrame, case: str) -> None:
    states = {name: v.states for name, v in net.variables.items()}

    def ours(_: int) -> Any:
        made = pgm.BayesianNetwork(edges=net.edges).fit(frame, states=states)
        return {name: made.cpd(name).values for name in made.nodes}

    _race(
        report, options, "maximum likelihood from a frame", case, ours, _pgmpy(net, frame), _PGMPY, 4.5, _near
    )
    _race(
        report,
        options,
        "maximum likelihood from a frame",
        case,
        ours,
        _pyagrum(net, frame),
        PYAGRUM,
        15.0,
        _near,
    )
    place = {name: i for i, name in enumerate(net.nodes)}
    families = [[*(place[p] for p in net.parents(n)), place[n]] for n in net.nodes]
    codes = [pd.Categorical(frame[n], categories=net.variables[n].states).codes for n in net.nodes]
    cards = [net.variables[n].card for n in net.nodes]
    counts = Counts(codes, cards, memory=0)

    def plain(_: int) -> Any:
        tables = counts.tables(families)
        return {
            n: t / np.maximum(t.sum(-1, keepdims=True), 1.0) for n, t in zip(net.nodes, tables, strict=True)
        }

    def numpy_side(_: int) -> Any:
        found = {}
        for name, family in zip(net.nodes, families, strict=True):
            shape = [cards[i] for i in family]
            flat = np.ravel_multi_index([codes[i] for i in family], shape)
            table = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
            found[name] = table / np.maximum(table.sum(-1, keepdims=True), 1.0)
        return found

    _race(report, options, "maximum likelihood from codes", case, plain, numpy_side, "numpy", 5.0, _near)


def _naive_bayes(report: Report, options: Options, frame: pd.DataFrame) -> None:
    """Codes of all columns but the first, which is the class; beside CategoricalNB."""
    try:
        from sklearn.naive_bayes import CategoricalNB
    except ImportError:
        return
    codes = np.column_stack([frame[name].cat.codes.to_numpy(np.int64) for name in frame])
    rows, classes = np.ascontiguousarray(codes[:, 1:]), codes[:, 0]
    case = f"{len(rows):,} rows of {rows.shape[1]} codes"
    ours, theirs = pgm.NaiveBayes(), CategoricalNB()
    ours.fit(rows, classes)
    theirs.fit(rows, classes)

    def same(mine: Any, peers: Any) -> None:
        np.testing.assert_allclose(mine, peers, atol=1e-9)

    _race(
        report,
        options,
        "naive Bayes learns",
        case,
        lambda _: pgm.NaiveBayes().fit(rows, classes).class_prior_,
        lambda _: np.exp(CategoricalNB().fit(rows, classes).class_log_prior_),
        _SCIKIT,
        1.0,
        same,
    )
    _race(
        report,
        options,
        "naive Bayes, P(class | row)",
        case,
        lambda _: ours.predict_proba(rows),
        lambda _: theirs.predict_proba(rows),
        _SCIKIT,
        1.0,
        same,
    )


def _near(ours: Any, theirs: Any) -> None:
    """The same tables, where a row has data."""
    for name, table in theirs.items():
        rows = table.sum(axis=-1) > 0.5
        np.testing.assert_allclose(ours[name][rows], table[rows], atol=1e-6)


def _pgmpy(net: Any, frame: pd.DataFrame) -> Side | None:
    try:
        from pgmpy.models import DiscreteBayesianNetwork as Network
    except ImportError:
        return None

    def side(_: int) -> Any:
        made = Network(list(net.edges))
        made.fit(frame)
        found = {}
        for name in net.nodes:
            cpd = made.get_cpds(name)
            order = [cpd.variables.index(v) for v in (*net.parents(name), name)]
            values = cpd.values.transpose(order)
            index = [
                [cpd.state_names[v].index(s) for s in net.variables[v].states]
                for v in (*net.parents(name), name)
            ]
            found[name] = values[np.ix_(*index)]
        return found

    return side


def _pyagrum(net: Any, frame: pd.DataFrame) -> Side | None:
    try:
        import pyagrum as gum
    except ImportError:
        return None
    template = gum.BayesNet()
    for name in net.nodes:
        template.add(gum.LabelizedVariable(name, name, [str(s) for s in net.variables[name].states]))
    for tail, head in net.edges:
        template.addArc(tail, head)

    def side(_: int) -> Any:
        made = gum.BNLearner(frame, template).learnParameters(template.dag())
        found = {}
        for name in net.nodes:
            table = made.cpt(name)
            array, order = table.toarray(), list(table.names)[::-1]
            found[name] = array.transpose([order.index(v) for v in (*net.parents(name), name)])
        return found

    return side


def _expectation(report: Report, options: Options, net: Any, frame: pd.DataFrame) -> None:
    """One step, beside all marginals of the same rows; pyAgrum's own step was timed once, see the record."""
    rng = np.random.default_rng(1)
    gaps = {n: np.where(rng.random(len(frame)) < 0.2, None, frame[n].to_numpy(object)) for n in frame}
    case = f"alarm, {len(frame):,} rows, 20 % of the cells missing"

    def ours(_: int) -> Any:
        return net.expected_counts(gaps)

    def marginals(_: int) -> Any:
        return net.predict_proba(gaps)

    def compare(counts: Any, shares: Any) -> None:
        for name, table in shares.items():
            found = counts[name].reshape(-1, counts[name].shape[-1]).sum(axis=0)
            np.testing.assert_allclose(found, table.sum(axis=0), rtol=1e-7)

    _race(report, options, "a step of EM", case, ours, marginals, "all marginals of the rows", 0.5, compare)


def _mixture(report: Report, options: Options) -> None:
    try:
        from sklearn.mixture import GaussianMixture
    except ImportError:
        return
    rng, n = np.random.default_rng(0), max(1000, options.rows // 10)
    centres = 4.0 * rng.normal(size=(5, 2))
    x = centres[rng.integers(5, size=n)] + rng.normal(size=(n, 2))
    peer = GaussianMixture(5, covariance_type="diag", random_state=0).fit(x)
    net = pgm.BayesianNetwork()
    net.add("c", peer.weights_ / peer.weights_.sum(), states=list(range(5)))
    for i in range(2):
        rows = {k: pgm.Gaussian(peer.means_[k, i], sd=peer.covariances_[k, i] ** 0.5) for k in range(5)}
        net.add(f"x{i}", rows, parents=["c"])
    frame = {f"x{i}": x[:, i] for i in range(2)}

    def compare(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)

    case = f"{n:,} rows, 5 components"
    _race(report, options, "rows of a mixture", case, lambda _: net.log_likelihood(frame),
          lambda _: peer.score_samples(x), _SCIKIT, 0.2, compare)  # fmt: skip
