"""Every question of a model with numbers in what is given, against the mixture written out by hand.

Which questions there are is read off the classes: one that is added later fails here until it has its truth.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import pgm
from pgm.inference import program

SEX, STEP = ["f", "m"], ["short", "mid", "long"]
P_SEX = np.array([0.4, 0.6])
P_STEP = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])  # by sex
HEIGHT = [NormalDist(1.65, 0.07), NormalDist(1.78, 0.08)]  # by sex
SLOPE, BIAS, SD = 90.0, -80.0, 9.0  # weight = SLOPE * height + BIAS + noise


def network() -> pgm.BayesianNetwork:
    """The child of two is declared before the other: no answer is in the order of anything by chance."""
    net = pgm.BayesianNetwork()
    net.add("sex", dict(zip(SEX, P_SEX.tolist(), strict=True)))
    rows = {sex: pgm.LinearGaussian(bias=p.mean, sd=p.stdev) for sex, p in zip(SEX, HEIGHT, strict=True)}
    net.add("height", rows, parents=["sex"])
    net.add("step", P_STEP, parents=["sex"], states=STEP)
    net.add("weight", pgm.LinearGaussian({"height": SLOPE}, bias=BIAS, sd=SD))
    return net


NET = network()


@dataclass(frozen=True)
class Seen:
    """What is given, and by what it multiplies each sex (a density, or a probability) and each step."""

    given: dict[str, Any]
    by_sex: tuple[float, float]
    by_step: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def table(self) -> np.ndarray:
        """p(sex, step, given)."""
        return P_SEX[:, None] * P_STEP * np.outer(self.by_sex, self.by_step)

    @property
    def truncated(self) -> bool:
        """Whether what is left of the numbers is not a normal distribution."""
        return any(isinstance(value, pgm.Interval) for value in self.given.values())

    def rest(self, i: int) -> dict[str, NormalDist]:
        """The height and the weight, as far as hidden, of somebody of this sex."""
        h = HEIGHT[i]
        height, weight = self.given.get("height"), self.given.get("weight")
        if height is not None:
            return {} if weight is not None else {"weight": NormalDist(SLOPE * height + BIAS, SD)}
        if weight is None:
            return {"height": h}
        precision = 1 / h.variance + SLOPE**2 / SD**2
        mean = (h.mean / h.variance + SLOPE * (weight - BIAS) / SD**2) / precision
        return {"height": NormalDist(mean, precision**-0.5)}


def of_height(x: float) -> tuple[float, float]:
    return HEIGHT[0].pdf(x), HEIGHT[1].pdf(x)


def of_weight(y: float) -> tuple[float, float]:
    first, second = (
        NormalDist(SLOPE * h.mean + BIAS, math.hypot(SLOPE * h.stdev, SD)).pdf(y) for h in HEIGHT
    )
    return first, second


def of_both(x: float, y: float) -> tuple[float, float]:
    below = NormalDist(SLOPE * x + BIAS, SD).pdf(y)
    return of_height(x)[0] * below, of_height(x)[1] * below


SEEN = {
    "a number": Seen({"height": 1.9}, of_height(1.9)),
    "a number below": Seen({"weight": 101.0}, of_weight(101.0)),
    "two numbers": Seen({"weight": 60.0, "height": 1.6}, of_both(1.6, 60.0)),
    "a number and a state": Seen({"step": "mid", "weight": 60.0}, of_weight(60.0), (0.0, 1.0, 0.0)),
    "a number and a Likelihood": Seen(
        {"height": 1.7, "step": pgm.Likelihood({"short": 3.0, "mid": 0.5, "long": 0.0})},
        of_height(1.7),
        (3.0, 0.5, 0.0),
    ),
    "a number and a Likelihood of one state": Seen(
        {"weight": 80.0, "step": pgm.Likelihood({"short": 0.0, "mid": 0.5, "long": 0.0})},
        of_weight(80.0),
        (0.0, 0.5, 0.0),
    ),
    "an Interval": Seen(
        {"height": pgm.Interval(1.8, 2.0)},
        (HEIGHT[0].cdf(2.0) - HEIGHT[0].cdf(1.8), HEIGHT[1].cdf(2.0) - HEIGHT[1].cdf(1.8)),
    ),
    "an Interval and a state": Seen(
        {"height": pgm.Interval(-math.inf, 1.6), "step": "short"},
        (HEIGHT[0].cdf(1.6), HEIGHT[1].cdf(1.6)),
        (1.0, 0.0, 0.0),
    ),
}


def near(x: Any) -> Any:
    return pytest.approx(x, rel=1e-10, abs=1e-13)


def left(seen: Seen) -> list[str]:
    """The variables that are not observed; a Likelihood of one state is as good as that."""
    hard = {name for name in seen.given if name != "step" or np.count_nonzero(seen.by_step) == 1}
    return [name for name in ("sex", "height", "step", "weight") if name not in hard]


def moments(seen: Seen, name: str) -> tuple[float, float]:
    """Mean and variance of a hidden number."""
    shares = seen.table.sum(axis=1) / seen.table.sum()
    each = [seen.rest(i) for i in range(2)]
    means = np.array([rest[name].mean for rest in each])
    variances = np.array([rest[name].variance for rest in each])
    mean = float(shares @ means)
    return mean, float(shares @ (variances + (means - mean) ** 2))


def check_query(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    assert NET.query("sex", seen.given).values == near(joint.sum(axis=1))
    assert NET.query(["step", "sex"], seen.given).values == near(joint.T)
    for name in left(seen):
        if name in ("height", "weight") and not seen.truncated:
            p = NET.query(name, seen.given)
            assert (p.mean, p.variance) == near(moments(seen, name))


def check_marginals(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    if seen.truncated:
        with pytest.raises(pgm.InvalidEvidence, match="no longer normally distributed"):
            NET.marginals(seen.given)["weight"]
    else:
        found = NET.marginals(seen.given)
        assert list(found) == left(seen)
        for name in left(seen):
            if name in ("height", "weight"):
                assert (found[name].mean, found[name].variance) == near(moments(seen, name))
    found = NET.marginals(seen.given, targets=["step", "sex"])
    assert found["sex"].values == near(joint.sum(axis=1))
    if "step" in left(seen):
        assert found["step"].values == near(joint.sum(axis=0))


def check_probability(seen: Seen) -> None:
    total = float(seen.table.sum())
    p = NET.probability(seen.given)
    assert (float(p), float(p.log)) == near((total, math.log(total)))
    shares = seen.table / total
    assert NET.probability({"sex": "m", "step": "mid"}, given=seen.given) == near(shares[1, 1])
    one = total / float((P_SEX * seen.by_sex).sum()) if "step" in seen.given else total
    others = {name: value for name, value in seen.given.items() if name != "step"}
    event = {"step": seen.given["step"]} if "step" in seen.given else seen.given
    assert NET.probability(event, given=others if "step" in seen.given else None) == near(one)
    by_sex = float(seen.table[1].sum()) / P_SEX[1]
    assert NET.probability(seen.given, given={"sex": "m"}) == near(by_sex)


def check_log_probability(seen: Seen) -> None:
    assert NET.log_probability(seen.given) == near(math.log(seen.table.sum()))
    assert NET.log_probability({"sex": "f"}, given=seen.given) == near(
        math.log(seen.table[0].sum() / seen.table.sum())
    )


def check_map(seen: Seen) -> None:
    best = NET.map(seen.given, targets=["sex", "step"])
    i, j = np.unravel_index(seen.table.argmax(), seen.table.shape)
    assert dict(best) == {"sex": SEX[i], "step": STEP[j]}
    assert best.log_joint == near(math.log(seen.table.max()))
    assert best.log_probability == near(math.log(seen.table.max() / seen.table.sum()))
    if seen.truncated:
        with pytest.raises(pgm.InvalidEvidence, match="no longer normally distributed"):
            NET.map(seen.given)
        return
    peaks = [math.prod(p.pdf(p.mean) for p in seen.rest(k).values()) for k in range(2)]
    heights = seen.table * np.array(peaks)[:, None]
    i, j = np.unravel_index(heights.argmax(), heights.shape)
    best = NET.map(seen.given)
    expected = {"sex": SEX[i], "step": STEP[j], **{n: p.mean for n, p in seen.rest(int(i)).items()}}
    assert best.to_dict() == {
        name: near(v) if name in seen.rest(0) else v for name, v in expected.items() if name in left(seen)
    }
    assert best.log_joint == near(math.log(heights.max()))
    assert best.log_probability == near(math.log(heights.max() / seen.table.sum()))


def check_k_best(seen: Seen) -> None:
    found = NET.k_best(seen.given, k=3, targets=["sex", "step"])
    ranked = sorted(seen.table[seen.table > 0].tolist(), reverse=True)[:3]
    assert [one.log_joint for one in found] == near(np.log(ranked))
    for one, value in zip(found, ranked, strict=True):
        assert seen.table[SEX.index(one["sex"]), STEP.index(one["step"])] == near(value)


def check_max_marginals(seen: Seen) -> None:
    if len({"height", "weight"} & seen.given.keys()) < 2:
        with pytest.raises(pgm.InvalidArgument, match="Max-marginals are of discrete variables"):
            NET.max_marginals(seen.given)
        return
    found = NET.max_marginals(seen.given)
    assert found.log_values("sex") == near(np.log(seen.table.max(axis=1)))
    assert found.log_values("step") == near(np.log(seen.table.max(axis=0)))


def check_mutual_information(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    some = joint > 0
    expected = float((joint[some] * np.log(joint[some] / apart[some])).sum())
    assert NET.mutual_information("sex", "step", seen.given) == pytest.approx(expected, abs=1e-12)


def check_sample(seen: Seen) -> None:
    if seen.truncated:
        with pytest.raises(pgm.InvalidEvidence, match="no longer normally distributed"):
            NET.sample(4000, given=seen.given, seed=0)
        return
    drawn_as_expected(NET.sample(4000, given=seen.given, seed=0), seen)


def check_impute(seen: Seen) -> None:
    if frame(seen) is not None:
        rows = {name: [seen.given.get(name)] * 4000 for name in ("sex", "step", "height", "weight")}
        (filled,) = NET.impute(rows, seed=0)
        drawn_as_expected(filled, seen)


def drawn_as_expected(drawn: Mapping[str, np.ndarray], seen: Seen) -> None:
    """Shares within five standard deviations of the truth, means of continuous variables likewise."""
    n = len(drawn["sex"])
    shares = seen.table / seen.table.sum()
    for i, sex in enumerate(SEX):
        for j, step in enumerate(STEP):
            count = int(((drawn["sex"] == sex) & (drawn["step"] == step)).sum())
            p = float(shares[i, j])
            assert abs(count - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1e-9
    for name in ("height", "weight"):
        if name in seen.given:
            assert (drawn[name] == seen.given[name]).all()
        else:
            mean, variance = moments(seen, name)
            assert abs(drawn[name].mean() - mean) <= 5 * math.sqrt(variance / n)


def check_expected_counts(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    counts = NET.expected_counts(seen.given)
    numbers = [] if seen.truncated else ["height", "weight"]  # cut off, they have no formula
    assert sorted(counts) == sorted(["sex", "step", *numbers])
    assert counts["sex"] == near(joint.sum(axis=1))
    assert counts["step"] == near(joint)
    if numbers:
        assert counts["height"].weight == near(joint.sum(axis=1))
        for i, share in enumerate(joint.sum(axis=1)):
            mean, variance = of_sex(seen, i, "height")
            assert counts["height"].mean[i, 0] == near(mean)
            assert counts["height"].scatter[i, 0, 0] == near(variance * share)
        assert counts["weight"].weight == near([1.0])
        for at, name in enumerate(("height", "weight")):
            mean, variance = (seen.given[name], 0.0) if name in seen.given else moments(seen, name)
            assert counts["weight"].mean[0, at] == near(mean)
            assert counts["weight"].scatter[0, at, at] == near(variance)


def of_sex(seen: Seen, i: int, name: str) -> tuple[float, float]:
    """Mean and variance given this sex too."""
    if name in seen.given:
        return seen.given[name], 0.0
    found = seen.rest(i)[name]
    return found.mean, found.variance


def check_gradients(seen: Seen) -> None:
    """By hand, and by differences of the density that they are the derivative of."""
    total = seen.table.sum()
    gradients = NET.gradients(seen.given)
    assert list(gradients)[:2] == ["sex", "step"]
    assert gradients["sex"] == near((P_STEP * np.outer(seen.by_sex, seen.by_step)).sum(axis=1) / total)
    assert gradients["step"] == near(P_SEX[:, None] * np.outer(seen.by_sex, seen.by_step) / total)
    off, ends = 1e-6, []
    for step in (off, -off):
        p = P_SEX + np.array([step, -step])
        ends.append(math.log(float((p[:, None] * P_STEP * np.outer(seen.by_sex, seen.by_step)).sum())))
    slope = gradients["sex"][0] - gradients["sex"][1]
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * off), rel=1e-6, abs=1e-6)


def check_compile(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    assert NET.compile("sex", given=list(seen.given))(seen.given).values == near(joint.sum(axis=1))
    assert NET.compile(["step", "sex"], given=list(seen.given))(seen.given).values == near(joint.T)


def frame(seen: Seen) -> dict[str, list[Any]] | None:
    """A frame of one row, and one of which nothing is known; None: cells hold no weights, no intervals."""
    if seen.truncated or any(isinstance(value, pgm.Likelihood) for value in seen.given.values()):
        return None
    return {name: [value, math.nan if name != "step" else None] for name, value in seen.given.items()}


def posterior(seen: Seen) -> np.ndarray:
    joint = seen.table / seen.table.sum()
    return joint.sum(axis=1)


def told(joint: np.ndarray) -> float:
    """The mutual information of the two axes of a joint distribution, in nats."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    inside = joint > 0
    return float((joint[inside] * np.log(joint[inside] / apart[inside])).sum())


def check_explain(seen: Seen) -> None:
    found = NET.explain("sex", seen.given, state="m")
    assert (found.before, found.after) == near((P_SEX[1], posterior(seen)[1]))
    for name, value in seen.given.items():
        assert found[name].alone == near(NET.query("sex", {name: value})["m"])  # itself checked above
        rest = {other: it for other, it in seen.given.items() if other != name}
        assert found[name].without == near(NET.query("sex", rest)["m"])


def check_shapley(seen: Seen) -> None:
    found = NET.shapley("sex", seen.given, state="m")
    assert sum(found.values()) == near(posterior(seen)[1] - P_SEX[1])


def check_informative(seen: Seen) -> None:
    joint = seen.table / seen.table.sum()
    if "step" not in seen.given:
        assert NET.informative("sex", seen.given)["step"] == near(told(joint))


def check_next_question(seen: Seen) -> None:
    asked = NET.next_question("sex", seen.given, over="step", sure=1.0) if "step" not in seen.given else None
    if asked is not None:
        assert (asked.name, asked.gain) == ("step", near(told(seen.table / seen.table.sum())))


def check_diagnosis(seen: Seen) -> None:
    if "step" not in seen.given:
        joint = seen.table / seen.table.sum()
        found = NET.diagnosis("sex", seen.given, over="step", sure=1.0)
        assert found.right == near(joint.max(axis=0).sum())


def check_sensitivity(seen: Seen) -> None:
    seen_by = P_STEP * np.outer(seen.by_sex, seen.by_step)
    one, two = seen_by.sum(axis=1)
    slope = one * two / (P_SEX[0] * one + P_SEX[1] * two) ** 2  # of p two / ((1 - p) one + p two)
    found = NET.sensitivity("sex", seen.given, state="m")
    assert found.probability == near(posterior(seen)[1])
    assert found.curve("sex", "m").derivative == near(slope)


def check_sensitivity_of_two(seen: Seen) -> None:
    found = NET.sensitivity_of_two(
        "sex", seen.given, state="m", first=("sex", "m"), second=("step", ("f", "mid"))
    )
    x, y = 0.35, 0.15
    rows = P_STEP.copy()
    rows[0] = P_STEP[0] * (1 - y) / (1 - P_STEP[0, 1])
    rows[0, 1] = y
    joint = np.array([1 - x, x])[:, None] * rows * np.outer(seen.by_sex, seen.by_step)
    assert found(x, y) == near(joint[1].sum() / joint.sum())


def check_tune(seen: Seen) -> None:
    """The entry of sex for which odds of one are reached is known in closed form."""
    one, two = (P_STEP * np.outer(seen.by_sex, seen.by_step)).sum(axis=1)
    now = posterior(seen)[1]
    goal = {"at_least": 0.5} if now < 0.5 else {"at_most": 0.5}
    found = NET.tune("sex", seen.given, state="m", **goal)
    (change,) = [one for one in found if one.node == "sex"]
    assert change.to == near(one / (one + two))


def check_turning(seen: Seen) -> None:
    now = NET.query("sex", seen.given).mode()
    if "step" not in seen.given or seen.by_step.count(0.0) < 2:  # a state: nothing else is left
        with pytest.raises(pgm.InvalidArgument, match="only discrete findings"):
            NET.turning("sex", seen.given)
        return
    for turn in NET.turning("sex", seen.given):
        after = NET.query("sex", seen.given | turn.changes)
        assert after.mode() == turn.answer != now
        assert after[turn.answer] == near(turn.probability)


def check_contradictions(seen: Seen) -> None:
    assert NET.contradictions(seen.given) == []


def check_relevant_explanation(seen: Seen) -> None:
    one, two = (P_STEP * np.outer(seen.by_sex, seen.by_step)).sum(axis=1)
    best = NET.relevant_explanation(seen.given, over="sex")[0]
    assert best.factor == near(max(one / two, two / one))


def check_counterfactual(seen: Seen) -> None:
    """Nothing follows from the step: what it would have been leaves the sex as it is."""
    if "step" not in seen.given:
        found = NET.counterfactual("sex", given=seen.given, do={"step": "mid"})
        assert [found.answer[sex] for sex in SEX] == near(posterior(seen))


def check_surprise(seen: Seen) -> None:
    if (rows := frame(seen)) is not None:
        assert NET.surprise(rows).rows == near([-math.log(seen.table.sum()), 0.0])


def check_predict(seen: Seen) -> None:
    if (rows := frame(seen)) is None:
        return
    joint = seen.table / seen.table.sum()
    expected = [SEX[joint.sum(axis=1).argmax()], SEX[P_SEX.argmax()]]
    assert NET.predict(rows, "sex").tolist() == expected
    found = NET.predict(rows)
    assert found["sex"].tolist() == expected
    for name in left(seen):
        if name in ("height", "weight"):
            assert found[name][0] == near(moments(seen, name)[0])
    prior = float(P_SEX @ [h.mean for h in HEIGHT])
    assert found["height"][1] == near(prior)
    assert found["weight"][1] == near(SLOPE * prior + BIAS)


def check_predict_proba(seen: Seen) -> None:
    if (rows := frame(seen)) is None:
        return
    joint = seen.table / seen.table.sum()
    assert NET.predict_proba(rows, "sex") == near(np.array([joint.sum(axis=1), P_SEX]))
    assert NET.predict_proba(rows)["sex"] == near(np.array([joint.sum(axis=1), P_SEX]))


def check_log_likelihood(seen: Seen) -> None:
    if (rows := frame(seen)) is not None:
        assert NET.log_likelihood(rows) == near([math.log(seen.table.sum()), 0.0])


def check_score(seen: Seen) -> None:
    if (rows := frame(seen)) is not None:
        assert NET.score(rows) == near(math.log(seen.table.sum()))


CHECKS: dict[str, Callable[[Seen], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}
# What takes evidence or its names, and whose answer has no number that evidence changes; why.
NO_NUMBERS = {
    "plan": "what a question costs",
    "plot": "drawn from `marginals`",
    "junction_tree": "its tables are refused beside numbers",
    "independent": "of the graph",
    "active_trail": "of the graph",
    "effect": "of an action; what is given is where it is asked",
    "necessity_and_sufficiency": "of actions; what is given is where it is asked",
    "map_sensitivity": "refuses networks with continuous variables",
    "credible_interval": "refuses densities, which have no counts",
    "fit": "learns from a frame",
    "partial_fit": "learns from a frame",
}


def test_there_is_a_truth_for_every_question() -> None:
    """A question is what takes evidence, or a frame of it."""
    asked = set()
    for name in dir(pgm.BayesianNetwork):
        method = getattr(pgm.BayesianNetwork, name)
        if not name.startswith("_") and callable(method):
            if {"given", "event", "frame"} & set(inspect.signature(method).parameters):
                asked.add(name)
    assert asked == CHECKS.keys() | NO_NUMBERS.keys()


@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize("question", CHECKS)
def test_every_question_knows_the_numbers_that_are_given(question: str, kind: str) -> None:
    CHECKS[question](SEEN[kind])


def test_tables_beside_states_that_follow_numbers() -> None:
    """Where the numbers are known such states have a table for this question, which is not the model's."""
    net = NET.copy()
    net.add("fit", pgm.Logistic({"height": 2.0}, bias=-3.0))
    fit = [1 / (1 + math.exp(-(2.0 * x - 3.0))) for x in (1.6, 1.9)]
    for x, p in zip((1.6, 1.9), fit, strict=True):
        shares = P_SEX * of_height(x)
        given = {"height": x, "fit": True}
        assert net.probability(given) == near(shares.sum() * p)
        counts, gradients = net.expected_counts(given), net.gradients(given)
        assert counts.keys() == {"sex", "step", "height", "weight"}
        assert gradients.keys() == counts.keys()
        assert counts["sex"] == near(shares / shares.sum())
        assert gradients["sex"] == near(np.array(of_height(x)) / shares.sum())


@pytest.mark.parametrize("far_apart", [1, 1 << 16])
def test_tables_of_large_models_keep_their_names(far_apart: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 65,536 tables on a program orders them its own way, another one where numbers add tables."""
    monkeypatch.setattr(program, "_FAR_APART", far_apart)
    monkeypatch.setattr(program, "_FAR", 2)
    net, n = pgm.BayesianNetwork(), 12
    chances = np.linspace(0.1, 0.9, n)
    for i in [*range(0, n, 2), *range(1, n, 2)]:
        net.add(f"a{i}", float(chances[i]))
    for i in range(n - 1):
        rows = {(a, b): pgm.LinearGaussian(bias=float(a + 2 * b), sd=1.0) for a in (0, 1) for b in (0, 1)}
        net.add(f"x{i}", rows, parents=[f"a{n - 1 - i}", f"a{n - 2 - i}"])
    given = {f"x{i}": 0.3 * i for i in range(n - 1)}
    found = net.marginals(given)
    counts = net.expected_counts(given)
    assert len(counts) == 2 * n - 1
    for i in range(n):
        assert counts[f"a{i}"] == near(found[f"a{i}"].values)
    for i in range(n - 1):
        pair = net.query([f"a{n - 1 - i}", f"a{n - 2 - i}"], given).values
        assert counts[f"x{i}"].weight == near(pair.ravel())
    mrf = pgm.MarkovNetwork()
    for i in range(n):
        mrf.add_variable(f"a{i}", states=[0, 1])
    for i in np.random.default_rng(0).permutation(n - 1).tolist():
        mrf.add_factor([f"a{n - 1 - i}", f"a{(5 * i) % (n - 1 - i)}"], [[1.0, 2.0 + i], [3.0, 0.5]])
    for i, counts in mrf.expected_counts().items():
        assert counts == near(mrf.query(mrf.potentials[i].names).values)
