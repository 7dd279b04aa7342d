"""Switching linear systems: every path of regimes with its Kalman filter, and what approximates that."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import pgm
from pgm import LinearDynamicalSystem, SwitchingLinearDynamicalSystem, filters

START: dict[str, Any] = {"mean": [0.3, -0.2], "covariance": [[1.0, 0.2], [0.2, 0.5]]}
SYSTEMS = {
    "calm": LinearDynamicalSystem(
        A=[[0.9, 0.1], [0.0, 0.7]],
        C=[[1.0, 0.0], [0.5, 1.0]],
        Q=[[0.1, 0.02], [0.02, 0.1]],
        R=[0.5, 0.4],
        b=[0.1, 0.0],
        **START,
    ),
    "wild": LinearDynamicalSystem(
        A=[[-0.5, 0.3], [0.2, 0.9]],
        C=[[1.0, 0.5], [0.0, 1.0]],
        Q=[1.0, 0.8],
        R=[[0.6, 0.1], [0.1, 0.5]],
        d=[0.0, 0.3],
        **START,
    ),
    "still": LinearDynamicalSystem(
        A=[[1.0, 0.0], [0.0, 1.0]],
        C=[[1.0, 0.0], [0.0, 1.0]],
        Q=[0.01, 0.0],
        R=[0.3, 0.3],
        mean=[2.0, 0.0],
        covariance=1.0,
    ),
}
INITIAL = [0.5, 0.3, 0.2]
MOVES = [[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.0, 0.5, 0.5]]


def three() -> SwitchingLinearDynamicalSystem:
    return SwitchingLinearDynamicalSystem(INITIAL, MOVES, SYSTEMS)


def along(path: tuple[int, ...], systems: Any = None) -> LinearDynamicalSystem:
    """One path of regimes as a linear system whose matrices change."""
    own = [list(systems or SYSTEMS.values())[k] for k in path]
    zero = np.zeros(2)
    more = (
        np.array([zero if s.b is None else s.b for s in own]),
        np.array([zero if s.d is None else s.d for s in own]),
    )
    B, D = np.eye(2), np.eye(2)
    made = LinearDynamicalSystem(
        A=np.array([s.A for s in own[1:]] or [np.eye(2)]),
        C=np.array([s.C for s in own]),
        Q=np.array([s.Q for s in own[1:]] or [np.eye(2)]),
        R=np.array([s.R for s in own]),
        mean=own[0].mean,
        covariance=own[0].covariance,
        B=np.hstack([B, np.zeros((2, 2))]),
        D=np.hstack([np.zeros((2, 2)), D]),
    )
    pushes = np.vstack([more[0][1:], zero])
    return made, np.hstack([pushes, more[1]])  # type: ignore[return-value]


def enumerated(y: np.ndarray) -> dict[str, np.ndarray]:
    """The truth, by a Kalman smoother for each path."""
    T, weights, means, covs, crosses, paths = len(y), [], [], [], [], []
    for path in product(range(3), repeat=T):
        p = INITIAL[path[0]] * np.prod([MOVES[a][b] for a, b in pairwise(path)])
        if p == 0.0:
            continue
        lds, inputs = along(path)  # type: ignore[misc]
        found = lds.smooth(y, inputs=inputs)
        weights.append(np.log(p) + found.log_likelihood)
        means.append(found.mean)
        covs.append(found.covariance)
        crosses.append(found.lag_one_covariance)
        paths.append(path)
    logs = np.array(weights)
    total = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    w = np.exp(logs - total)
    mean = np.tensordot(w, means, axes=1)
    off = np.array(means) - mean
    cov = np.tensordot(w, covs, axes=1) + np.einsum("p,pti,ptj->tij", w, off, off)
    cross = np.tensordot(w, crosses, axes=1) + np.einsum("p,pti,ptj->tij", w, off[:, :-1], off[:, 1:])
    regimes = np.array([[w[[path[t] == k for path in paths]].sum() for k in range(3)] for t in range(T)])
    best = int(logs.argmax())
    return {
        "log": total,
        "mean": mean,
        "cov": cov,
        "cross": cross,
        "regimes": regimes,
        "path": paths[best],
        "best": logs[best],
    }


def gappy(T: int, seed: int = 0) -> np.ndarray:
    y = np.array(three().sample(T, seed=seed).observations)
    rng = np.random.default_rng(seed)
    y[rng.random(y.shape) < 0.2] = np.nan
    y[T // 2] = np.nan
    return y


@pytest.mark.parametrize("seed", range(3))
def test_the_exact_answer_is_that_of_all_paths(seed: int) -> None:
    y = gappy(5, seed)
    truth, nds = enumerated(y), three()
    found = nds.smooth(y)
    assert found.exact
    assert nds.score(y) == pytest.approx(truth["log"], rel=1e-10)
    np.testing.assert_allclose(found.mean, truth["mean"], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.covariance, truth["cov"], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.lag_one_covariance, truth["cross"], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.regimes.values, truth["regimes"], rtol=1e-9, atol=1e-12)
    best = nds.decode(y)
    assert best.path == tuple(list(SYSTEMS)[k] for k in truth["path"])
    assert best.log_joint == pytest.approx(truth["best"], rel=1e-10)
    filtered = nds.filter(y)
    for t in (0, 2, 4):  # a filter is a smoother that stops there
        until = enumerated(y[: t + 1])
        np.testing.assert_allclose(filtered.mean[t], until["mean"][t], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(filtered.covariance[t], until["cov"][t], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(filtered.regimes.values[t], until["regimes"][t], rtol=1e-9, atol=1e-12)
        assert filtered.step_scores[: t + 1].sum() == pytest.approx(until["log"], rel=1e-10)
    later = np.vstack([y[:3], np.full((2, 2), np.nan)])
    ahead, known = nds.forecast(y[:3], steps=2), enumerated(later)
    np.testing.assert_allclose(ahead.mean, known["mean"][3:], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ahead.regimes.values, known["regimes"][3:], rtol=1e-9)
    assert ahead.log_likelihood == pytest.approx(enumerated(y[:3])["log"])


def test_signals_and_what_will_be_observed_are_mixtures() -> None:
    nds, y = three(), gappy(4, 1)
    ahead = nds.forecast(y, steps=1)
    last = nds.filter(y)
    drawn = nds.sample(5, sequences=60_000, seed=1)
    assert ahead.predicted.mean.shape == (1, 2)
    # without observations the forecast of the first steps is the prior, which samples show
    nothing = np.full((4, 2), np.nan)
    prior = nds.forecast(nothing, steps=1)
    seen = np.array([one.observations[4] for one in drawn])
    regimes = np.array([[one.regimes[4] == name for name in nds.regimes] for one in drawn])
    np.testing.assert_allclose(prior.predicted.mean[0], seen.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(prior.predicted.covariance[0], np.cov(seen.T), atol=0.06)
    np.testing.assert_allclose(prior.regimes.values[0], regimes.mean(axis=0), atol=0.01)
    assert last.signal.mean.shape == (4, 2)


@pytest.mark.parametrize("engine", ["gpb1", "gpb2", "imm", "rao-blackwellised"])
def test_one_regime_is_the_kalman_filter_and_smoother(engine: str) -> None:
    lds = SYSTEMS["wild"]
    one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [lds])
    y = gappy(9, 2)
    questions = ["filter", "smooth"] if engine in ("gpb2", "rao-blackwellised") else ["filter"]
    for question in questions:
        mine, theirs = getattr(one, question)(y, engine=engine), getattr(lds, question)(y)
        for what in ("mean", "covariance", "step_scores"):
            np.testing.assert_allclose(getattr(mine, what), getattr(theirs, what), rtol=1e-9, atol=1e-10)
        assert not mine.exact
    if "smooth" in questions:
        np.testing.assert_allclose(
            one.smooth(y, engine=engine).lag_one_covariance,
            lds.smooth(y).lag_one_covariance,
            rtol=1e-9,
            atol=1e-10,
        )
    np.testing.assert_allclose(
        one.forecast(y, 3, engine=engine).predicted.covariance,
        lds.forecast(y, 3).predicted.covariance,
        rtol=1e-9,
    )


def test_equal_systems_are_a_linear_system_whatever_the_regimes() -> None:
    """Merging equal Gaussians loses nothing, and regimes are those of the Markov chain."""
    same = SwitchingLinearDynamicalSystem(INITIAL, MOVES, [SYSTEMS["wild"]] * 3)
    y = gappy(12, 3)
    chain = [np.array(INITIAL)]
    for _ in range(11):
        chain.append(chain[-1] @ np.array(MOVES))
    for engine in ("gpb1", "gpb2", "imm", "rao-blackwellised"):
        found = same.filter(y, engine=engine)
        np.testing.assert_allclose(found.mean, SYSTEMS["wild"].filter(y).mean, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(
            found.covariance, SYSTEMS["wild"].filter(y).covariance, rtol=1e-9, atol=1e-10
        )
        assert found.log_likelihood == pytest.approx(SYSTEMS["wild"].score(y))
        if engine != "rao-blackwellised":
            np.testing.assert_allclose(found.regimes.values, chain, rtol=1e-9)
    back = same.smooth(y, engine="gpb2")
    np.testing.assert_allclose(back.mean, SYSTEMS["wild"].smooth(y).mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(back.regimes.values, chain, rtol=1e-9)


def test_gpb2_is_exact_for_two_steps_and_close_later() -> None:
    y = gappy(7, 0)
    exact, near = three().filter(y), three().filter(y, engine="gpb2")
    np.testing.assert_allclose(near.mean[:2], exact.mean[:2], rtol=1e-9)
    np.testing.assert_allclose(near.covariance[:2], exact.covariance[:2], rtol=1e-9)
    assert near.step_scores[:2] == pytest.approx(exact.step_scores[:2])
    off = {
        engine: np.abs(three().filter(y, engine=engine).mean - exact.mean).max()
        for engine in ("gpb2", "imm", "gpb1")
    }
    assert off["gpb2"] < off["imm"] < 0.2
    assert off["gpb2"] < off["gpb1"] < 0.4
    assert off["gpb2"] > 1e-12
    back = three().smooth(y, engine="gpb2")
    np.testing.assert_allclose(back.mean, three().smooth(y).mean, atol=0.2)


def by_hand(y: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """IMM by covariances and inverses: Bar-Shalom, Li & Kirubarajan 2001, section 11.6.6."""
    own, P = list(SYSTEMS.values()), np.array(MOVES)
    m, S, p = [s.mean for s in own], [s.covariance for s in own], np.array(INITIAL)
    means, chances = [], []
    for t, row in enumerate(y):
        if t:
            c = p @ P
            mu = P * p[:, None] / c
            mixed = [sum(mu[i, j] * m[i] for i in range(3)) for j in range(3)]
            spread = [
                sum(mu[i, j] * (S[i] + np.outer(m[i] - mixed[j], m[i] - mixed[j])) for i in range(3))
                for j in range(3)
            ]
            zero = np.zeros(2)
            m = [s.A @ x + (zero if s.b is None else s.b) for s, x in zip(own, mixed, strict=True)]
            S = [s.A @ V @ s.A.T + s.Q for s, V in zip(own, spread, strict=True)]
            p = c
        seen = ~np.isnan(row)
        for j, s in enumerate(own):
            C = s.C[seen]
            V = C @ S[j] @ C.T + s.R[np.ix_(seen, seen)]
            off = (row - s.C @ m[j] - (0 if s.d is None else s.d))[seen]
            K = S[j] @ C.T @ np.linalg.inv(V)
            m[j], S[j] = m[j] + K @ off, S[j] - K @ V @ K.T
            p = p.copy()
            p[j] *= np.exp(-0.5 * off @ np.linalg.solve(V, off)) / np.sqrt(np.linalg.det(2 * np.pi * V))
        p = p / p.sum()
        means.append(sum(p[j] * m[j] for j in range(3)))
        chances.append(p)
    return means, chances


def test_imm_is_the_textbooks() -> None:
    y = gappy(10, 4)
    y[5] = [0.3, 0.1]
    found = three().filter(y, engine="imm")
    means, chances = by_hand(y)
    np.testing.assert_allclose(found.mean, means, rtol=1e-9)
    np.testing.assert_allclose(found.regimes.values, chances, rtol=1e-9, atol=1e-14)


def in_errors(off: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Differences in units of their standard errors; what has none must be exact."""
    sure = errors < 1e-12
    np.testing.assert_allclose(off[sure], 0.0, atol=1e-12)
    return np.asarray(off[~sure] / errors[~sure])


def test_particles_are_within_their_errors_and_exact_while_paths_are_few() -> None:
    y = gappy(8, 5)
    exact, back = three().filter(y), three().smooth(y)
    z: list[np.ndarray] = []
    for seed in range(8):
        how = filters.RaoBlackwellised(samples=1000, seed=seed)
        found, later = three().filter(y, engine=how), three().smooth(y, engine=how)
        assert found.report.intervals.errors[:3].max() < 1e-12  # 3, 7, 17 paths
        np.testing.assert_allclose(found.mean[:3], exact.mean[:3], rtol=1e-9)
        z.append(in_errors(found.mean[5:] - exact.mean[5:], found.report.intervals.errors[5:]))
        z.append(in_errors(later.mean - back.mean, later.report.intervals.errors))
        z.append(np.array([(found.log_likelihood - exact.log_likelihood) / found.report.log_error]))
        np.testing.assert_allclose(later.covariance, back.covariance, atol=0.05)
        np.testing.assert_allclose(later.lag_one_covariance, back.lag_one_covariance, atol=0.05)
        np.testing.assert_allclose(later.regimes.values, back.regimes.values, atol=0.05)
    every = np.concatenate(z)
    assert 0.7 < np.sqrt((every**2).mean()) < 1.6
    all_of_them = filters.RaoBlackwellised(samples=100_000)
    assert three().filter(y, engine=all_of_them).mean == pytest.approx(exact.mean, rel=1e-9)
    assert three().filter(y, engine=all_of_them).report.error < 1e-12


def test_too_many_paths_are_refused_unasked() -> None:
    y = np.zeros((100, 2))
    with pytest.raises(pgm.TooLarge, match=r'paths of regimes over 100 steps.*engine="gpb2" or "imm"'):
        three().filter(y)
    with pytest.raises(pgm.TooLarge, match=r"and .* are allowed"):
        three().filter(y, engine="exact")
    assert three().filter(y, engine="imm").mean.shape == (100, 2)
    never = SwitchingLinearDynamicalSystem(
        [1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [SYSTEMS["calm"], SYSTEMS["wild"]]
    )
    found = never.filter(y)  # there is one path
    assert found.exact
    np.testing.assert_allclose(found.mean, SYSTEMS["calm"].filter(y).mean, rtol=1e-9, atol=1e-12)


def test_inputs_act_in_the_regime_that_they_lead_to() -> None:
    B = [[0.5], [1.0]]
    pushed = LinearDynamicalSystem(
        A=SYSTEMS["calm"].A, C=np.eye(2), Q=0.1, R=0.5, B=B, D=[[0.0], [1.0]], **START
    )
    other = LinearDynamicalSystem(
        A=SYSTEMS["wild"].A, C=np.eye(2), Q=0.3, R=0.5, B=[[0.0], [-1.0]], D=[[1.0], [0.0]], **START
    )
    u = np.arange(6.0)
    y = np.random.default_rng(0).normal(size=(6, 2))
    one = SwitchingLinearDynamicalSystem(
        [1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [pushed, other]
    )  # they alternate
    own = [pushed, other] * 3
    mean = {"mean": pushed.mean, "covariance": pushed.covariance}
    both = LinearDynamicalSystem(
        A=np.array([s.A for s in own[1:]]),
        C=np.eye(2),
        Q=np.array([s.Q for s in own[1:]]),
        R=0.5 * np.eye(2),
        B=np.hstack([np.eye(2), np.zeros((2, 2))]),
        D=np.hstack([np.zeros((2, 2)), np.eye(2)]),
        **mean,
    )
    pushes = np.array([own[t + 1].B @ u[t : t + 1] if t < 5 else np.zeros(2) for t in range(6)])
    shifts = np.array([own[t].D @ u[t : t + 1] for t in range(6)])
    assert one.score(y, inputs=u) == pytest.approx(
        both.score(y, inputs=np.hstack([pushes, shifts])), rel=1e-10
    )


def test_many_series_and_values() -> None:
    y = [gappy(4, 0), gappy(6, 1)]
    found = three().filter(y, engine="gpb2")
    assert len(found) == 2
    assert three().score(y, by="sequence").sum() == pytest.approx(three().score(y))
    assert three().sample(3, seed=1).to_pandas().columns.tolist() == ["regime", "x0", "x1", "y0", "y1"]
    for one in (
        three().filter(y[0]),
        three().smooth(y[0]),
        three().forecast(y[0], steps=2),
        three().sample(4, seed=0),
    ):
        again = pickle.loads(pickle.dumps(one))
        assert repr(again) == repr(one)
        assert again.regimes is not None
        one.plot()
    frame = three().filter(y[0]).to_pandas()
    assert frame.columns.tolist() == ["x0", "x0 sd", "x1", "x1 sd", "P(calm)", "P(wild)", "P(still)"]
    assert "calm" in repr(three().filter(y[0])).splitlines()[0]
    assert pickle.loads(pickle.dumps(three())) == three()
    with pytest.raises(AttributeError, match="only fit changes"):
        three().initial = [1.0]  # type: ignore[misc]
    assert three().systems["calm"] == SYSTEMS["calm"]


one_number = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.1, R=0.8)
WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: SwitchingLinearDynamicalSystem([1.0], [[1.0]], "x"),
        "systems= is a dict from regimes to systems",
    ),
    (
        lambda: SwitchingLinearDynamicalSystem([1.0], [[1.0]], [1.0]),
        "systems= are each a pgm.LinearDynamicalSystem",
    ),
    (lambda: SwitchingLinearDynamicalSystem([1.0], [[1.0]], []), "systems= are each"),
    (
        lambda: SwitchingLinearDynamicalSystem([0.5, 0.5], np.eye(2), [one_number, SYSTEMS["calm"]]),
        "all systems need the same sizes",
    ),
    (lambda: SwitchingLinearDynamicalSystem([1.0], [[1.0]], [pgm.components.level()]), "has a diffuse start"),
    (lambda: three().smooth(gappy(4), engine="imm"), 'engine="imm" filters but cannot smooth'),
    (lambda: three().filter(gappy(4), engine="kim"), "engine='kim' is not one of 'auto'"),
    (
        lambda: three().filter(gappy(4), engine=filters.RaoBlackwellised),
        r"write pgm.filters.RaoBlackwellised\(\)",
    ),
    (lambda: three().filter(gappy(4)[:, 0]), "2"),
    (lambda: filters.RaoBlackwellised(samples=15), "samples is a multiple of the 10 groups"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_mistakes_are_answered_in_the_users_words(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=said):
        call()


def test_rows_of_transitions_sum_to_one() -> None:
    with pytest.raises(pgm.InvalidTable, match=r"row 'wild'"):
        SwitchingLinearDynamicalSystem(INITIAL, [[0.8, 0.2, 0.0], [0.1, 0.7, 0.1], [0, 0.5, 0.5]], SYSTEMS)


def test_a_file_holds_every_bit() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schema/pgm-1.json").read_text(encoding="utf-8"))
    file = io.StringIO()
    pgm.write(three(), file, format="json")
    jsonschema.Draft202012Validator(schema).validate(json.loads(file.getvalue()))
    assert pgm.read(io.StringIO(file.getvalue()), format="json") == three()
    wrong = file.getvalue().replace('"transition"', '"moves"')
    with pytest.raises(pgm.FileFormatError, match="transition"):
        pgm.read(io.StringIO(wrong), format="json")
    fewer = json.loads(file.getvalue())
    fewer["switching-linear-dynamical-system"]["systems"].pop()
    with pytest.raises(pgm.FileFormatError, match="one system for each of 3 regimes expected, found 2"):
        pgm.read(io.StringIO(json.dumps(fewer)), format="json")


def kim(y: np.ndarray) -> tuple[list[Any], list[Any]]:
    """GPB2 and Kim's smoother (1994) with covariances and inverses, for complete observations."""
    own, P, K = list(SYSTEMS.values()), np.array(MOVES), 3
    zero = np.zeros(2)
    state: list[Any] = []
    for t, row in enumerate(y):
        found: dict[tuple[int, int], Any] = {}
        for i in range(K):
            for j, s in enumerate(own):
                if t:
                    m, V, p = state[-1]["m"][i], state[-1]["V"][i], state[-1]["p"][i] * P[i, j]
                    before, wide = s.A @ m + (zero if s.b is None else s.b), s.A @ V @ s.A.T + s.Q
                else:
                    before, wide, p = s.mean, s.covariance, INITIAL[j] / K
                S = s.C @ wide @ s.C.T + s.R
                off = row - s.C @ before - (0 if s.d is None else s.d)
                G = wide @ s.C.T @ np.linalg.inv(S)
                like = np.exp(-0.5 * off @ np.linalg.solve(S, off)) / np.sqrt(np.linalg.det(2 * np.pi * S))
                found[i, j] = (before + G @ off, wide - G @ S @ G.T, p * like, before, wide)
        total = sum(each[2] for each in found.values())
        p = np.array([sum(found[i, j][2] for i in range(K)) for j in range(K)]) / total
        m = [sum(found[i, j][2] * found[i, j][0] for i in range(K)) / total / p[j] for j in range(K)]
        V = [
            sum(
                found[i, j][2] * (found[i, j][1] + np.outer(found[i, j][0] - m[j], found[i, j][0] - m[j]))
                for i in range(K)
            )
            / total
            / p[j]
            for j in range(K)
        ]
        state.append({"m": m, "V": V, "p": p, "ways": found})
    m, V, p = state[-1]["m"], state[-1]["V"], state[-1]["p"]
    means, chances = [p @ np.array(m)], [p]
    for t in range(len(y) - 2, -1, -1):
        now, ways = state[t], state[t + 1]["ways"]
        joint = now["p"][:, None] * P
        joint = joint / joint.sum(axis=0) * p
        pairs: dict[tuple[int, int], Any] = {}
        for j in range(K):
            for k in range(K):
                J = now["V"][j] @ own[k].A.T @ np.linalg.inv(ways[j, k][4])
                pairs[j, k] = (
                    now["m"][j] + J @ (m[k] - ways[j, k][3]),
                    now["V"][j] + J @ (V[k] - ways[j, k][4]) @ J.T,
                )
        p = joint.sum(axis=1)
        m = [sum(joint[j, k] * pairs[j, k][0] for k in range(K)) / p[j] for j in range(K)]
        V = [
            sum(
                joint[j, k] * (pairs[j, k][1] + np.outer(pairs[j, k][0] - m[j], pairs[j, k][0] - m[j]))
                for k in range(K)
            )
            / p[j]
            for j in range(K)
        ]
        means.insert(0, p @ np.array(m))
        chances.insert(0, p)
    return means, chances


def test_the_smoother_of_gpb2_is_kims() -> None:
    y = np.array(three().sample(9, seed=6).observations)
    means, chances = kim(y)
    found = three().smooth(y, engine="gpb2")
    np.testing.assert_allclose(found.mean, means, rtol=1e-8)
    np.testing.assert_allclose(found.regimes.values, chances, rtol=1e-8)


# --- learning ---


def two(x: np.ndarray) -> SwitchingLinearDynamicalSystem:
    """Of fifteen numbers: chances of regimes, then A, Q, R, C, b, and the start of each."""
    p, a, b = x[:3]
    systems = [
        LinearDynamicalSystem(A=A, Q=Q, R=R, C=C, b=[push], mean=m, covariance=S)
        for A, Q, R, C, push, m, S in (x[3:10], x[10:17])
    ]
    return SwitchingLinearDynamicalSystem([p, 1 - p], [[1 - a, a], [b, 1 - b]], systems)


BEGIN = np.array([0.4, 0.2, 0.3, 0.8, 0.2, 0.5, 1.0, 0.1, 0.0, 1.0, -0.5, 1.0, 0.6, 0.9, 0.2, 0.5, 0.7])


def some_series(count: int = 8, T: int = 6) -> list[np.ndarray]:
    y = [np.array(one.observations) for one in two(BEGIN).sample(T, sequences=count, seed=4)]
    y[1][2:4] = np.nan
    return y


def test_learning_climbs_to_where_the_gradient_vanishes() -> None:
    y, model = some_series(5), two(BEGIN)
    model.fit(y, max_iter=4)
    logs = model.fit_report.log_likelihoods
    assert (np.diff(logs) > 0).all()
    assert logs[-1] == pytest.approx(model.score(y), rel=1e-10)
    held = ["C", "mean", "covariance", "b", "Q", "initial"]
    model = two(BEGIN).fit(y, fixed=held, max_iter=100, tol=1e-11)
    assert model.fit_report.exact
    assert (np.diff(model.fit_report.log_likelihoods) >= -1e-9).all()
    own = list(model.systems.values())
    found = BEGIN.copy()
    found[1], found[2] = model.transition[0, 1], model.transition[1, 0]
    found[[3, 5, 10, 12]] = [own[0].A[0, 0], own[0].R[0, 0], own[1].A[0, 0], own[1].R[0, 0]]
    assert two(found).score(y) == pytest.approx(model.score(y), rel=1e-9)
    for i in (1, 2, 3, 5, 10, 12):
        step = np.zeros(17)
        step[i] = 1e-5 * max(found[i], 0.1)
        if 1e-3 < found[i] < 1e3 and not (i < 3 and found[i] > 0.999):
            slope = (two(found + step).score(y) - two(found - step).score(y)) / (2 * step[i])
            assert abs(slope) * max(abs(found[i]), 0.1) < 0.02, i


def test_learning_one_regime_is_learning_a_linear_system() -> None:
    series = [gappy(12, 2), gappy(8, 3)]
    for name in ("wild", "calm"):
        one = SwitchingLinearDynamicalSystem([1.0], [[1.0]], [SYSTEMS[name]])
        for engine in ("exact", "gpb2"):
            mine = one.copy().fit(series, engine=engine, max_iter=5, weights=[2.0, 1.0])
            theirs = SYSTEMS[name].copy().fit(series, max_iter=5, weights=[2.0, 1.0])
            for part in ("A", "C", "Q", "R", "mean", "covariance"):
                np.testing.assert_allclose(
                    getattr(mine.systems[0], part), getattr(theirs, part), rtol=1e-7, atol=1e-9
                )
            assert mine.fit_report.n_parameters == theirs.fit_report.n_parameters


def test_kims_em_says_that_it_approximates_and_keeps_the_highest() -> None:
    truth = SwitchingLinearDynamicalSystem(
        [0.5, 0.5],
        [[0.95, 0.05], [0.1, 0.9]],
        [
            LinearDynamicalSystem(A=0.95, C=1.0, Q=0.05, R=0.1, mean=0.0, covariance=1.0),
            LinearDynamicalSystem(A=-0.8, C=1.0, Q=1.0, R=0.1, mean=0.0, covariance=1.0),
        ],
    )
    y = [np.array(one.observations) for one in truth.sample(150, sequences=3, seed=0)]
    begin = SwitchingLinearDynamicalSystem(
        [0.5, 0.5],
        [[0.8, 0.2], [0.2, 0.8]],
        [
            LinearDynamicalSystem(A=0.5, C=1.0, Q=0.3, R=0.3, mean=0.0, covariance=1.0),
            LinearDynamicalSystem(A=-0.3, C=1.0, Q=2.0, R=0.3, mean=0.0, covariance=1.0),
        ],
    )
    before = begin.score(y, engine="imm")
    with pytest.raises(pgm.TooLarge):
        begin.copy().fit(y)
    found = begin.fit(y, engine="gpb2", fixed=["C", "mean", "covariance"], max_iter=25)
    report = found.fit_report
    assert not report.exact
    assert "approximated by gpb2" in repr(report)
    assert report.log_likelihood == max(report.log_likelihoods) > before + 20
    assert found.score(y, engine="gpb2") == pytest.approx(report.log_likelihood)
    assert found.systems[0].A[0, 0] == pytest.approx(0.95, abs=0.1)
    assert found.systems[1].A[0, 0] == pytest.approx(-0.8, abs=0.2)
    assert found.systems[0].C[0, 0] == 1.0


def test_learning_takes_inputs_and_correlated_noise() -> None:
    """The expected likelihood given states and regimes is raised by every step."""
    rng = np.random.default_rng(1)
    rest: dict[str, Any] = {"C": np.eye(2), "R": [[0.5, 0.2], [0.2, 0.6]], **START}
    model = SwitchingLinearDynamicalSystem(
        [0.5, 0.5],
        [[0.7, 0.3], [0.4, 0.6]],
        [
            LinearDynamicalSystem(
                A=0.5 * np.eye(2), Q=0.5, B=[[0.1], [0.2]], D=[[0.0], [0.3]], d=[0.1, 0.2], **rest
            ),
            LinearDynamicalSystem(
                A=-0.5 * np.eye(2), Q=0.9, B=[[0.3], [0.0]], D=[[0.1], [0.0]], d=[0.0, 0.2], **rest
            ),
        ],
    )
    y, u = rng.normal(size=(9, 2)), rng.normal(size=9)
    y[2, 0] = np.nan
    y[5] = np.nan
    logs = model.fit(y, inputs=u, max_iter=6).fit_report.log_likelihoods
    assert (np.diff(logs) > 0).all()
    assert logs[-1] == pytest.approx(model.score(y, inputs=u), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fixed": ["a"]}, "fixed= names 'a'"),
        ({"fixed": {"A": True}}, "fixed= takes names"),
        ({"engine": "imm"}, 'engine= of a fit is "auto" or "exact"'),
        ({"weights": [1.0, 2.0, 3.0]}, "weights= has a non-negative number"),
        ({"fixed": ["initial", "transition", *"ACQRb", "mean", "covariance"]}, "holds everything"),
    ],
)
def test_mistakes_in_learning_are_answered(options: dict[str, Any], said: str) -> None:
    with pytest.raises(pgm.InvalidArgument, match=said):
        two(BEGIN).fit(some_series(2), **options)
    assert two(BEGIN).fit_report is None


@pytest.mark.parametrize("engine", ["exact", "gpb2", "imm", "rao-blackwellised"])
@pytest.mark.parametrize("y", [[1e308, 0.0], [0.0, 1e200], [1e160]])
def test_numbers_too_large_are_refused(engine: str, y: list[float]) -> None:
    one = LinearDynamicalSystem(A=0.9, C=1.0, Q=0.5, R=0.8, mean=0.0, covariance=1.0)
    both = SwitchingLinearDynamicalSystem([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], {"a": one, "b": one})
    for ask in (both.score, both.filter):
        with pytest.raises(pgm.InvalidArgument, match=r"step \d .*leaves the range of floating-point"):
            ask(y, engine=engine)


def test_a_network_has_the_same_numbers() -> None:
    """Also with several numbers, correlated noise, constants, gaps and states without noise."""
    rng = np.random.default_rng(5)

    def system(seed: int) -> pgm.LinearDynamicalSystem:
        own = np.random.default_rng(seed)
        half = own.normal(size=(2, 2))
        return pgm.LinearDynamicalSystem(
            A=0.6 * own.normal(size=(2, 2)), C=own.normal(size=(2, 2)), Q=half @ half.T,
            R=[[1.0, 0.3], [0.3, 0.5]], mean=own.normal(size=2), covariance=np.eye(2),
            b=own.normal(size=2), d=own.normal(size=2),
        )  # fmt: skip

    model = pgm.SwitchingLinearDynamicalSystem(
        [0.3, 0.7], [[0.9, 0.1], [0.4, 0.6]], {"calm": system(1), "wild": system(2)}
    )
    y = rng.normal(size=(3, 2))
    y[1, 0] = np.nan
    given = {f"y{i}[{t}]": y[t, i] for t in range(3) for i in range(2) if not np.isnan(y[t, i])}
    net = model.to_network(3)
    smoothed = model.smooth(y)
    assert net.log_probability(given) == pytest.approx(model.score(y), abs=1e-8)
    for t in range(3):
        regime = net.query(f"regime[{t}]", given)
        assert regime.values == pytest.approx(smoothed.regimes.values[t], abs=1e-8)
        for i in range(2):
            state = net.query(f"x{i}[{t}]", given)
            assert state.mean == pytest.approx(smoothed.mean[t, i], abs=1e-8)
            assert state.std == pytest.approx(smoothed.std[t, i], abs=1e-8)
    diffuse = pgm.LinearDynamicalSystem(A=1.0, C=1.0, Q=1.0, R=1.0, covariance="diffuse")
    for bad, said in (
        (lambda: pgm.SwitchingLinearDynamicalSystem([1.0], [[1.0]], [diffuse]).to_network(2), "diffuse"),
        (lambda: model.to_network(0), "whole number of at least 1"),
        (lambda: model.to_network(10**12), "steps"),
    ):
        with pytest.raises(pgm.PGMError, match=said):
            bad()
