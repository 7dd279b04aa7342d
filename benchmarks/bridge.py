"""Classifiers in networks beside the same classifiers alone: what it costs more than their own call."""

from __future__ import annotations

from typing import Any

import numpy as np

import pgm
from benchmarks.harness import Finding, Options, Report, Side, compete

ALONE = "the classifier alone"
_COLUMNS, _LEARNED = 10, 2000
_LOW = {"a": 0.2, "b": 0.9}  # P(finding) below each class
_A_ROW = 2e-6  # seconds for each row, more than the classifier's own call, with findings below


def run(report: Report, options: Options) -> None:
    """A forest and a logistic regression: all inputs known, without and with a finding below."""
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    rng, n = np.random.default_rng(0), options.rows
    names = [f"x{i}" for i in range(_COLUMNS)]
    frame = pd.DataFrame(rng.normal(size=(n, _COLUMNS)), columns=names)
    found = frame.assign(finding=rng.random(n) < 0.5)
    learned = pd.DataFrame(rng.normal(size=(_LEARNED, _COLUMNS)), columns=names)
    classes = np.where(learned["x0"] + 0.5 * learned["x1"] + rng.normal(size=_LEARNED) > 0.0, "b", "a")
    kinds: dict[str, tuple[Any, float]] = {
        "forest of 100": (RandomForestClassifier(100, max_depth=8, random_state=0, n_jobs=1), 1.2),
        "logistic regression": (LogisticRegression(), 2.0),
    }
    case = f"{n:,} rows of {_COLUMNS} numbers"
    with pgm.config(threads=1):
        for kind, (estimator, wanted) in kinds.items():
            estimator.fit(learned, classes)
            net = _network(estimator, names)
            if options.wants(kind):
                _race(report, options, kind, case, _asked(net, frame), _alone(estimator, frame))
                row = report.of(kind, ALONE)[case]
                if row.ratio is not None:
                    report.find(
                        Finding(
                            f"{kind}, {case}, all known, beside its own call",
                            f"{1.0 / row.ratio:.2f} times as long",
                            f"at most {wanted:g}",
                            1.0 / row.ratio <= wanted,
                        )
                    )
            below = f"{kind}, a finding below"
            if options.wants(below):
                _race(report, options, below, case, _asked(net, found), _weighed(estimator, frame, found))
                row = report.of(below, ALONE)[case]
                if row.ratio is not None and row.seconds is not None:
                    more = (row.seconds / row.ratio - row.seconds) / n
                    report.find(
                        Finding(
                            f"{below}, {case}: more than its own call and Bayes' rule in numpy",
                            f"{more * 1e6:.2f} us a row",
                            f"at most {_A_ROW * 1e6:g}",
                            more <= _A_ROW,
                        )
                    )


def _race(report: Report, options: Options, race: str, case: str, mine: Side, theirs: Side) -> None:
    compete(report, race, case, mine, theirs, questions=1, rounds=options.rounds, compare=_agree, label=ALONE)


def _agree(mine: Any, theirs: Any) -> None:
    np.testing.assert_allclose(mine, theirs, atol=1e-12)


def _network(estimator: Any, names: list[str]) -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    for name in names:
        net.add(name, pgm.Gaussian(0.0, sd=1.0))
    net.add("class", pgm.EstimatorCPD(estimator, parents=names))
    net.add("finding", _LOW, parents=["class"])
    return net


def _asked(net: pgm.BayesianNetwork, frame: Any) -> Side:
    return lambda _: np.asarray(net.predict_proba(frame, "class"))


def _alone(estimator: Any, frame: Any) -> Side:
    return lambda _: estimator.predict_proba(frame)


def _weighed(estimator: Any, frame: Any, found: Any) -> Side:
    low = np.array(list(_LOW.values()))

    def asked(_: int) -> Any:
        seen = found["finding"].to_numpy()[:, None]
        shares = estimator.predict_proba(frame) * np.where(seen, low, 1.0 - low)
        return shares / shares.sum(axis=1, keepdims=True)

    return asked
