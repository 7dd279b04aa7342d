"""Priors, posteriors, predictions and evidence: worked numbers, closed forms of scipy, integrals on grids."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy import stats

import pgm
from pgm.distributions.gaussian_statistics import complete_statistics
from pgm.distributions.priors import (
    BDeu,
    Beta,
    Dirichlet,
    Expert,
    Laplace,
    Normal,
    NormalGamma,
    NormalWishart,
    Student,
)
from pgm.errors import InvalidArgument


def near(value: object, digits: float = 1e-9) -> object:
    return pytest.approx(value, rel=digits, abs=1e-12)


def test_D9_D6_sixty_of_a_hundred_is_surer_than_six_of_ten() -> None:
    """O2."""
    for a, b, variance, sd in ((6, 4, 0.0218181818, 0.1477097889), (60, 40, 0.0023762376, 0.0487466678)):
        belief = Beta(a, b)
        assert belief.mean[1] == near(0.6)
        assert belief.variance[1] == near(variance, 1e-7)
        assert math.sqrt(belief.variance[1]) == near(sd, 1e-8)
        low, high = belief.interval(0.9)
        assert (low[1], high[1]) == (near(stats.beta.ppf(0.05, a, b)), near(stats.beta.ppf(0.95, a, b)))
        for p in (0.2, 0.5, 0.9):
            assert belief.log_density([1 - p, p]) == near(stats.beta.logpdf(p, a, b))


def test_D7_D8_D2_D3_counts_are_added_in_any_order() -> None:
    """O3."""
    prior = Dirichlet([1, 1, 1])
    after = prior.posterior([3, 1, 0])
    assert after.alpha.tolist() == [4, 2, 1]
    assert after.predictive() == near([4 / 7, 2 / 7, 1 / 7])
    assert after.variance == near([0.03061224, 0.02551020, 0.01530612], 1e-6)
    assert math.exp(prior.log_evidence([3, 1, 0])) == near(1 / 60)
    steps = prior
    for one in ([1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]):
        steps = steps.posterior(one)
    assert steps == after
    assert prior.log_density([0.2, 0.3, 0.5]) == near(stats.dirichlet.logpdf([0.2, 0.3, 0.5], [1, 1, 1]))


def test_D10_D4_D5_three_of_ten() -> None:
    """O4: mean 1/3, and the mode is the share that was seen."""
    belief = Beta(1, 1).posterior([7, 3])
    assert (belief.a, belief.b) == (4, 8)
    assert belief.mean[1] == near(1 / 3)
    assert belief.mode[1] == near(0.3)
    assert belief.variance[1] == near(0.0170940171, 1e-8)


def test_D11_D12_D69_a_mean_whose_noise_is_known() -> None:
    """O5, with its sweep."""
    rows = {
        (20, 1.5, 0.8): (5.7009966777, 0.3093235573),
        (0, 1.5, 0.8): (4, 0.8),
        (1, 1.5, 0.8): (4.4429065744, 0.7058823529),
        (5, 1.5, 0.8): (5.1743119266, 0.5140235243),
        (100, 1.5, 0.8): (5.9320754717, 0.1474308280),
        (20, 0.5, 0.8): (5.9616858238, 0.1107273065),
        (20, 3.0, 0.8): (5.1743119266, 0.5140235243),
        (20, 6.0, 0.8): (4.5245901639, 0.6871180012),
        (20, 1.5, 0.1): (4.1632653061, 0.0958314847),
        (20, 1.5, 0.2): (4.5245901639, 0.1717795003),
    }
    for (n, noise, sd), (mean, std) in rows.items():
        belief = Normal(4, sd=sd, noise=noise).posterior([6.0] * n)
        assert (belief.mean, belief.sd) == (near(mean), near(std, 1e-8))
    found = Normal(4, sd=0.8, noise=1.5).posterior([6.0] * 20).predictive()
    assert found.sd == near(1.5315616420)
    x = np.array([1.0, 2.5, -0.5])
    cov = 4.0 * np.eye(3) + 9.0
    joint = stats.multivariate_normal.logpdf(x, np.full(3, 1.5), cov)
    assert Normal(1.5, sd=3, noise=2).log_evidence(x) == near(joint)


def test_D15_D16_D39_mean_and_precision_unknown() -> None:
    """O8: its sample has m = 6 and s² = 2 about m; s² about the prior's mean would be wrong (E3)."""
    x = 6.0 + np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    prior = NormalGamma(4, rows=2, a=2, b=2)
    after = prior.posterior(x)
    assert (after.rows, after.a) == (7, 4.5)
    assert (after.mean, after.b) == (near(38 / 7), near(9.8571428571))
    t = after.predictive()
    assert t.df == 9
    assert float(t.scale) ** 2 == near(2.5034013605)
    assert math.exp(t.log_density(6)) == near(0.2282237355)
    assert t.cdf(8) == near(0.9307182271)
    assert t.variance == near(3.2186588921)
    assert prior.log_evidence(x) == near(-11.6779268182)
    assert prior.posterior(x[:2]).posterior(x[2:]) == after
    assert prior.posterior(complete_statistics(x[:, None], np.ones((5, 1)))) == after
    low, high = after.interval(0.9)
    scale = math.sqrt(after.b / (after.a * after.rows))
    assert (low, high) == (
        near(stats.t.ppf(0.05, 9, after.mean, scale)),
        near(stats.t.ppf(0.95, 9, after.mean, scale)),
    )


def test_D18_D19_mean_vector_and_precision_matrix() -> None:
    """O9 and the mode of O20; in one dimension it is normal-gamma."""
    x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]])
    prior = NormalWishart([0, 0], rows=1, df=3)
    after = prior.posterior(x)
    assert after.mean == near([2, 2])
    assert (after.rows, after.df) == (5, 7)
    np.testing.assert_allclose(np.linalg.inv(after.scale), [[11, 8], [8, 11]], rtol=1e-12)
    t = after.predictive()
    assert t.df == 6
    np.testing.assert_allclose(t.scale, [[2.2, 1.6], [1.6, 2.2]], rtol=1e-12)
    assert math.exp(t.log_density([2, 2])) == near(0.1054029360)
    one = NormalWishart([4.0], rows=2, df=4, scale=[[1 / 4]])
    other = NormalGamma(4, rows=2, a=2, b=2)
    data = np.array([4.0, 5.0, 6.0, 7.0, 8.0])
    assert one.log_evidence(data) == near(other.log_evidence(data))
    assert one.posterior(data).predictive().df == other.posterior(data).predictive().df
    chain = [prior]
    for row in x:
        chain.append(chain[-1].posterior([row]))
    steps = sum(float(p.predictive().log_density(row)) for p, row in zip(chain, x, strict=False))
    assert prior.log_evidence(x) == near(steps)


def test_D42_is_the_coin_fair() -> None:
    """O18: Bayes factors of a uniform prior against a fair coin."""
    for heads, factor in ((5, 0.3694083694), (8, 2.0686868687), (9, 9.3090909091)):
        found = math.exp(Beta(1, 1).log_evidence([10 - heads, heads]) - 10 * math.log(0.5))
        assert found == near(factor)
    whole = sum(math.comb(10, k) * math.exp(Beta(1, 1).log_evidence([10 - k, k])) for k in range(11))
    assert whole == near(1)


def test_C62_tables_with_priors() -> None:
    """O13: Beta(1, 1) on 36, 4, 12 and 48 rows; the posterior of each row of the network is the same."""
    net = pgm.BayesianNetwork(edges="R -> W")
    net.fit(
        {"R": [True] * 40 + [False] * 60, "W": [True] * 36 + [False] * 4 + [True] * 12 + [False] * 48},
        prior="k2",
    )
    assert net.cpd("W").values[:, 1] == near([13 / 62, 37 / 42])
    assert net.cpd("R").values[1] == near(41 / 102)
    belief = net.posterior("W")
    assert belief[True].alpha.tolist() == [5, 37]
    low, high = belief.interval()
    assert low[1, 1] == near(stats.beta.ppf(0.025, 37, 5))
    assert high[0, 1] == near(stats.beta.ppf(0.975, 13, 49))
    assert list(belief) == [False, True]
    assert "0.880952" in repr(belief)
    assert "<table" in belief._repr_html_()
    assert belief.to_pandas().shape == (4, 6)
    drawn = belief.sample(4000, seed=0)
    assert drawn.mean(axis=0) == pytest.approx(belief.mean, abs=0.01)
    assert drawn.std(axis=0) == pytest.approx(belief.sd, abs=0.01)


def test_densities_with_priors_are_learned_at_the_posterior() -> None:
    prior = NormalGamma(4, rows=2, a=2, b=2)
    x = [4.0, 5.0, 6.5, 7.0, 8.0]
    net = pgm.BayesianNetwork(edges="c -> x").fit({"c": [0, 0, 0, 1, 1], "x": x}, prior={"x": prior})
    for state, part in ((0, x[:3]), (1, x[3:])):
        after = prior.posterior(part)
        assert net.posterior("x")[state] == after
        assert net.cpd("x").bias[state] == near(after.mean)
        assert net.cpd("x").sd[state] == near(math.sqrt(after.b / after.a))
    top = pgm.BayesianNetwork(edges="c -> x").fit(
        {"c": [0, 0, 0, 1, 1], "x": x}, prior={"x": prior}, estimate="mode"
    )
    best = prior.posterior(x[:3])

    def log_density(m: float, lam: float) -> float:
        spread = stats.gamma.logpdf(lam, best.a, scale=1 / best.b)
        return float(stats.norm.logpdf(m, best.mean, (best.rows * lam) ** -0.5) + spread)

    places = [(m, lam) for m in np.linspace(3, 7, 81) for lam in np.linspace(0.05, 3, 120)]
    grid = [(m, lam, log_density(m, lam)) for m, lam in places]
    mean, precision, _ = max(grid, key=lambda each: each[2])
    assert top.cpd("x").bias[0] == pytest.approx(mean, abs=0.05)
    assert top.cpd("x").sd[0] == pytest.approx(precision**-0.5, abs=0.05)


def test_densities_of_numbers_are_those_of_scipy() -> None:
    assert Normal(1, sd=2).log_density([0.0, 3.0]) == near(stats.norm.logpdf([0.0, 3.0], 1, 2))
    prior = NormalGamma(1, rows=3, a=2, b=5)
    wanted = stats.gamma.logpdf(0.7, 2, scale=1 / 5) + stats.norm.logpdf(0.2, 1, (3 * 0.7) ** -0.5)
    assert prior.log_density(0.2, 0.7) == near(wanted)
    scale, precision = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, -1.0], [-1.0, 2.0]])
    wide = NormalWishart([1, 2], rows=3, df=4, scale=scale)
    wanted = stats.wishart.logpdf(precision, 4, scale)
    wanted += stats.multivariate_normal.logpdf([0, 1], [1, 2], np.linalg.inv(3 * precision))
    assert wide.log_density([0, 1], precision) == near(wanted)
    # Bayes' rule: density after = density before * likelihood / evidence, at any numbers
    x = np.array([[0.5, 1.0], [2.0, 0.0], [1.0, 1.0]])
    said = stats.multivariate_normal.logpdf(x, [0, 1], np.linalg.inv(precision)).sum()
    after = wide.posterior(x).log_density([0, 1], precision)
    assert after == near(wide.log_density([0, 1], precision) + said - wide.log_evidence(x))
    # The mean alone, by draws of the precision
    rng = np.random.default_rng(0)
    drawn = stats.wishart.rvs(4, scale, size=4000, random_state=rng)
    means = [rng.multivariate_normal([1, 2], np.linalg.inv(3 * each)) for each in drawn]
    low, high = wide.interval(0.8)
    inside = ((np.array(means) > low) & (np.array(means) < high)).mean(axis=0)
    assert inside == pytest.approx([0.8, 0.8], abs=0.02)
    with pytest.raises(InvalidArgument, match="positive definite"):
        wide.log_density([0, 1], -precision)


EVERY = [
    BDeu(7),
    Laplace(0.5),
    Beta(2, 1 / 3),
    Dirichlet(0.5),
    Dirichlet([[1, 2], [3, 0.1]]),
    Normal(0.1, sd=0.2, noise=3),
    NormalGamma(1 / 3, rows=2, a=0.7, b=1e-300),
    NormalWishart([1 / 3, 2], rows=3, df=4, scale=[[2, 0.5], [0.5, 1]]),
]


@pytest.mark.parametrize("prior", EVERY, ids=str)
def test_priors_are_written_to_the_last_bit(prior: Any, tmp_path: Path) -> None:
    pgm.write(prior, tmp_path / "prior.json")
    text = (tmp_path / "prior.json").read_text()
    schema = json.loads((Path(__file__).parents[2] / "docs/schema/pgm-2.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    back = pgm.read(tmp_path / "prior.json")
    assert (type(back), back.to_dict()) == (type(prior), prior.to_dict())
    assert back == prior
    assert "<" in prior._repr_html_()
    other = prior.to_dict() | {next(iter(prior.to_dict())): 2.5}
    if not isinstance(prior, Dirichlet | NormalWishart) or isinstance(prior, Beta):
        assert type(prior)(**other) != prior


def test_an_expert_is_written_with_its_network(tmp_path: Path) -> None:
    expert = Expert(pgm.load_network("cancer"), rows=12.5)
    pgm.write(expert, tmp_path / "expert.json")
    assert pgm.read(tmp_path / "expert.json") == expert
    assert expert != Expert(pgm.load_network("asia"), rows=12.5)
    for text, said in (
        ('{"gauss": {}}', "'gauss' is not a kind of prior"),
        ('{"beta": {"a": 1}}', "has no 'b'"),
        ('{"beta": {"a": 1, "b": -1}}', "greater than 0, not -1"),
        ('{"beta": {"a": 1, "b": "x"}}', "expected b, a number"),
        ('{"dirichlet": {"alpha": []}}', "expected alpha, numbers"),
        ("{}", "one key"),
    ):
        (tmp_path / "bad.json").write_text(f'{{"pgm": 2, "prior": {text}}}')
        with pytest.raises(pgm.PGMError, match=said):
            pgm.read(tmp_path / "bad.json")


def test_mistakes_are_answered() -> None:
    with pytest.raises(InvalidArgument, match="greater than 0"):
        Dirichlet([1, 0])
    with pytest.raises(InvalidArgument, match="Counts are not negative"):
        Dirichlet([1, 1]).posterior([1, 2, 3])
    with pytest.raises(InvalidArgument, match="no single mode"):
        _ = Dirichlet([0.5, 1]).mode
    with pytest.raises(InvalidArgument, match="level"):
        Beta(1, 1).interval(95)
    with pytest.raises(InvalidArgument, match="df="):
        NormalWishart([0, 0], df=1)
    with pytest.raises(InvalidArgument, match="sd= is a number greater than 0"):
        Normal(0, sd=0)
    net = pgm.BayesianNetwork(edges="a -> b")
    with pytest.raises(InvalidArgument, match="call `fit` with a prior"):
        net.posterior("a")
    with pytest.raises(InvalidArgument, match="had no prior"):
        net.fit({"a": [0, 1], "b": [0, 1]}).posterior("a")
    with pytest.raises(InvalidArgument, match="alpha has the shape"):
        net.fit({"a": [0, 1], "b": [0, 1]}, prior=Dirichlet([1, 2, 3]))
    with pytest.raises(InvalidArgument, match="not a prior of such a distribution"):
        net.fit({"a": [0, 1], "b": [0, 1]}, prior={"a": NormalGamma()})


def test_pictures_of_beliefs() -> None:
    net = pgm.BayesianNetwork(edges="a -> b").fit({"a": [0, 1, 1], "b": [0, 1, 0]}, prior="laplace")
    ax = net.posterior("b").plot()
    assert len(ax.get_yticks()) == 4
    assert Beta(2, 3).plot(title="coin").get_title() == "coin"
    for belief, curves in (
        (Normal(0, sd=1), 2),
        (NormalGamma(0, rows=1, a=2, b=2), 2),
        (NormalWishart([0, 1, 2]), 3),
        (Student(3), 1),
        (Student(3, [0, 1], np.eye(2)), 2),
    ):
        ax = belief.plot()
        assert len(ax.get_lines()) == curves
        for line in ax.get_lines():  # densities
            assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=0.05)


# --- draws of beliefs about normal numbers ------------------------------------------------------------------


def test_draws_of_beliefs_about_normal_numbers_have_the_distributions_of_scipy() -> None:
    """Kolmogorov & Smirnov's test of each margin, and of what mean and precision say of each other."""
    means = pgm.priors.Normal(4, sd=0.8, noise=1.5).sample(4000, seed=0)
    assert stats.kstest(means, stats.norm(4, 0.8).cdf).pvalue > 0.01
    belief = pgm.priors.NormalGamma(2, rows=3, a=2.5, b=4)
    means, precisions = belief.sample(4000, seed=1)
    assert stats.kstest(precisions, stats.gamma(2.5, scale=0.25).cdf).pvalue > 0.01
    assert stats.kstest((means - 2) * np.sqrt(3 * precisions), stats.norm.cdf).pvalue > 0.01
    assert stats.kstest(means, stats.t(5, 2, np.sqrt(4 / (2.5 * 3))).cdf).pvalue > 0.01


def test_draws_of_a_normal_wishart_have_the_moments_of_the_book() -> None:
    scale = np.array([[0.5, 0.2], [0.2, 0.3]])
    belief = pgm.priors.NormalWishart([1.0, -2.0], rows=2, df=7, scale=scale)
    means, precisions = belief.sample(20_000, seed=2)
    np.testing.assert_allclose(
        precisions.mean(axis=0), 7 * scale, rtol=0.02
    )  # E of a Wishart: df times scale
    np.testing.assert_allclose(means.mean(axis=0), [1.0, -2.0], atol=0.02)
    expected = np.linalg.inv(scale) / (7 - 2 - 1) / 2  # E of its inverse, over rows
    np.testing.assert_allclose(np.cov(means.T), expected, rtol=0.08, atol=0.01)
    off = means - [1.0, -2.0]
    squares = 2 * np.einsum("ni,nij,nj->n", off, precisions, off)
    assert stats.kstest(squares, stats.chi2(2).cdf).pvalue > 0.01
    one = pgm.priors.NormalWishart([3.0], rows=2, df=5, scale=[[0.25]])
    means, precisions = one.sample(4000, seed=3)  # of one number: a NormalGamma
    assert precisions.shape == (4000, 1, 1)
    assert stats.kstest(precisions.ravel(), stats.gamma(2.5, scale=0.5).cdf).pvalue > 0.01
    assert one.sample(0, seed=0)[1].shape == (0, 1, 1)
