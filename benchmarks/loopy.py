"""Belief propagation: images, beside pyGMs and PGMax; errors on the marginals of UAI, beside pyGMs.

pyGMs (`pip install pyGMs`) sends all messages at once, without damping; so does our side here, and the
answers after as many sweeps are compared. PGMax is JAX on the CPU, compiled before it is timed.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pgm
from benchmarks import uai
from benchmarks.harness import Finding, Options, Report, Result, assert_close, timed
from benchmarks.peers import NotInstalled

SWEEPS = 20
IMAGE, BESIDE, ERRORS = "denoising, 20 sweeps", "denoising beside its peers", "UAI, error of loopy BP"
PYGMS, PGMAX = "pyGMs", "PGMax"
_ROUGHLY = 3e-4  # seconds that pyGMs takes for each message, and for each table entry
_PER_ENTRY = 4e-9
_UAI_SWEEPS = (20, 100)  # where messages never settle, rounding that loops have grown is seen after 100


def image(n: int) -> np.ndarray:
    """Stripes, a fifth of the pixels flipped."""
    truth = np.add.outer(np.arange(n) // 7, np.arange(n) // 11) % 2
    return np.where(np.random.default_rng(0).random((n, n)) < 0.2, 1 - truth, truth)


def denoiser(seen: np.ndarray) -> pgm.MarkovNetwork:
    unary = [[0.8, 0.2], [0.2, 0.8]]
    return pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=1.0, unary=unary)


def ours(mrf: Any, sweeps: int, given: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
    """So many sweeps, not one more or less."""
    engine = pgm.engines.Loopy(schedule="parallel", max_iter=sweeps, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pgm.ConvergenceWarning)
        found = mrf.marginals(given, engine=engine)
    return {name: p.values for name, p in found.items()}


def run(report: Report, options: Options) -> None:
    """All of it."""
    for part in (large_image, beside_peers, errors):
        part(report, options)


def large_image(report: Report, options: Options) -> None:
    """A million pixels with one thread and two: the bits are the same."""
    if not options.wants(IMAGE):
        return
    n = 1000 if max(options.sizes) >= 1_000_000 else 100
    mrf = denoiser(image(n))
    ours(denoiser(image(60)), 2)
    answers = {}
    for threads in (1, 2):
        with pgm.config(threads=threads):
            took = math.inf
            for _ in range(min(options.rounds, 3)):
                seconds, answers[threads] = timed(lambda _: ours(mrf, SWEEPS), 0)
                took = min(took, seconds)
        report.add(Result(IMAGE, f"{n} x {n}, {threads} threads", "pgm", took))
    same = all(np.array_equal(answers[1][name], p) for name, p in answers[2].items())
    report.find(Finding(f"{IMAGE}: the same bits in one thread and two", str(same), "True", same))
    what = f"{IMAGE}: seconds for {n} x {n} with two threads"
    report.find(Finding(what, f"{took:.2f}", "under 5", took < 5.0))


# --- peers --------------------------------------------------------------------------------------------------


class PyGMs:
    """Flooding in Python over numpy tables."""

    def __init__(self, cards: Mapping[Any, int], factors: list[tuple[list[Any], np.ndarray]]) -> None:
        try:
            import pygms
            from pygms import messagepass
        except ImportError:
            raise NotInstalled("pyGMs is not installed") from None
        self._lbp = messagepass.LBP
        number = {v: i for i, v in enumerate(cards)}
        variables = {v: pygms.Var(i, cards[v]) for v, i in number.items()}
        self._names = list(cards)
        self._model = pygms.GraphModel([pygms.Factor([variables[v] for v in s], t) for s, t in factors])

    def marginals(self, sweeps: int) -> dict[Any, np.ndarray]:
        """After so many of its sweeps; NaN where it divided zero by zero."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, beliefs = self._lbp(self._model, sweeps)
        return {name: np.asarray(beliefs[i].table) for i, name in enumerate(self._names)}


def pixels(seen: np.ndarray) -> tuple[dict[str, int], list[tuple[list[str], np.ndarray]]]:
    """The same model in plain tables."""
    n, m = seen.shape
    names = {(i, j): f"pixel[{i},{j}]" for i in range(n) for j in range(m)}
    unary, pair = np.array([[0.8, 0.2], [0.2, 0.8]]), np.exp(np.eye(2))
    factors = [([name], unary[:, seen[place]]) for place, name in names.items()]
    for (i, j), name in names.items():
        factors += [([name, names[at]], pair) for at in ((i + 1, j), (i, j + 1)) if at in names]
    return dict.fromkeys(names.values(), 2), factors


def beside_peers(report: Report, options: Options) -> None:
    """40 x 40, the answers compared first."""
    if not options.wants(BESIDE):
        return
    n = 40 if max(options.sizes) >= 100_000 else 4
    seen, case = image(n), f"{n} x {n}"
    mrf = denoiser(seen)
    answer = ours(mrf, SWEEPS)
    best = min(timed(lambda _: ours(mrf, SWEEPS), 0)[0] for _ in range(max(3, options.rounds)))
    report.add(Result(BESIDE, case, "pgm", best, 1.0))
    try:
        seconds, theirs = timed(lambda _: PyGMs(*pixels(seen)).marginals(SWEEPS), 0)
        assert_close(answer, theirs)
        report.add(Result(BESIDE, case, PYGMS, seconds, seconds / best))
        reached = seconds / best >= 100
        report.find(Finding(f"{BESIDE}: {PYGMS} / pgm", f"{seconds / best:.0f}", "at least 100", reached))
    except NotInstalled as missing:
        print(missing, flush=True)
    try:
        seconds, off = _pgmax(seen, answer)
        note = f"single precision: off by up to {off:.1g}"
        report.add(Result(BESIDE, case, PGMAX, seconds, seconds / best, note))
        report.find(Finding(f"{BESIDE}: {PGMAX} / pgm", f"{seconds / best:.1f}", "-"))
    except NotInstalled as missing:
        print(missing, flush=True)


def _pgmax(seen: np.ndarray, answer: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """Seconds of a compiled run, and how far its answers, in single precision, are from ours and pyGMs'."""
    try:
        import types

        import jax
        import jax.extend.backend
        from pgmax import fgraph, fgroup, infer, vgroup
    except ImportError:
        raise NotInstalled("PGMax is not installed") from None
    if not hasattr(jax.lib, "xla_bridge"):  # it asks an older JAX for its backend
        jax.lib.xla_bridge = types.SimpleNamespace(get_backend=jax.extend.backend.get_backend)
    n, m = seen.shape
    v = vgroup.NDVarArray(num_states=2, shape=seen.shape)
    graph = fgraph.FactorGraph(variable_groups=[v])
    pairs = [[v[i, j], v[i + 1, j]] for i in range(n - 1) for j in range(m)]
    pairs += [[v[i, j], v[i, j + 1]] for i in range(n) for j in range(m - 1)]
    group = fgroup.PairwiseFactorGroup(variables_for_factors=pairs, log_potential_matrix=np.eye(2))
    graph.add_factors(group)
    bp = infer.build_inferer(graph.bp_state, backend="bp")
    unary = np.log(np.array([[0.8, 0.2], [0.2, 0.8]]))[:, seen].transpose(1, 2, 0)
    best = math.inf
    for _ in range(4):
        start = time.perf_counter()
        state = bp.run(bp.init(evidence_updates={v: unary}), num_iters=SWEEPS, damping=0.0, temperature=1.0)
        found = np.asarray(infer.get_marginals(bp.get_beliefs(state))[v])
        best = min(best, time.perf_counter() - start)
    theirs = {f"pixel[{i},{j}]": found[i, j] for i in range(n) for j in range(m)}
    return best, max(float(np.abs(theirs[name] - p).max()) for name, p in answer.items())


# --- errors -------------------------------------------------------------------------------------------------


def errors(report: Report, options: Options) -> None:
    """The mean absolute error of all marginals, after as many sweeps of either; ours may be no larger."""
    for sweeps in _UAI_SWEEPS if options.wants(ERRORS) else ():
        _errors_after(sweeps, report, options)


def _errors_after(sweeps: int, report: Report, options: Options) -> None:
    paths, race = uai.problems("MAR", options), f"{ERRORS} after {sweeps} sweeps"
    worse, compared, ours_all, theirs_all = [], 0, [], []
    for path in paths:
        name = uai.name_of(path)
        if name in uai.UNSOUND:
            continue
        mrf = pgm.read(path)
        names = list(mrf.variables)
        given = {names[v]: mrf.variables[names[v]].states[code] for v, code in uai.evidence(path).items()}
        try:
            with pgm.config(time_limit=options.seconds):
                seconds, mine = timed(lambda _, m=mrf, g=given: ours(m, sweeps, g), 0)
        except pgm.PGMError as refused:
            report.add(Result(race, name, "pgm", note=type(refused).__name__))
            continue
        right = published(path)
        error = error_of({names.index(v): p for v, p in mine.items()}, right)
        ours_all.append(error)
        report.add(Result(race, name, "pgm", seconds, 1.0, figures={"error": error}))
        cards, tables = _sliced(path)
        messages = sum(len(scope) for scope, _ in tables)
        work = sweeps * sum(len(scope) * (_ROUGHLY + _PER_ENTRY * t.size) for scope, t in tables)
        if work > options.seconds:
            report.add(Result(race, name, PYGMS, note=f"left out: {messages:,} messages are too slow"))
            continue
        try:
            took, beliefs = timed(lambda _, c=cards, t=tables: PyGMs(c, t).marginals(sweeps), 0)
        except ValueError as failed:  # zeros
            report.add(Result(race, name, PYGMS, note=f"fails: {failed}"))
            continue
        other = error_of(beliefs, right)
        note = "NaN: zeros" if math.isnan(other) else ""
        report.add(Result(race, name, PYGMS, took, took / seconds, note, {"error": other}))
        if not math.isnan(other):
            compared += 1
            theirs_all.append((error, other))
            if error > other + 1e-6:
                worse.append(f"{name} {error:.3g} for {other:.3g}")
    if ours_all:
        report.find(Finding(f"{race}: mean over {len(ours_all)}", f"{np.mean(ours_all):.3g}", "-"))
    if compared:
        mean = np.mean(theirs_all, axis=0)
        what = f"{race}: means of both over the {compared} that pyGMs finishes"
        found = f"{mean[0]:.6g}, pyGMs {mean[1]:.6g}"
        report.find(Finding(what, found, "no larger", bool(mean[0] <= mean[1] + 1e-6)))
        report.find(Finding(f"{race}: larger than of pyGMs", ", ".join(worse) or "none", "none", not worse))


def published(path: Path) -> dict[int, np.ndarray]:
    numbers = uai.published(path, "MAR")
    found, at = {}, 1
    for v in range(int(numbers[0])):
        card = int(numbers[at])
        found[v] = np.array(numbers[at + 1 : at + 1 + card])
        at += 1 + card
    return found


def error_of(found: Mapping[int, np.ndarray], right: Mapping[int, np.ndarray]) -> float:
    """Over all states of all variables that are not observed."""
    off = [np.abs(np.asarray(p) - right[v]) for v, p in found.items() if v in right]
    return float(np.concatenate(off).mean()) if off else 0.0


def _sliced(path: Path) -> tuple[dict[int, int], list[tuple[list[int], np.ndarray]]]:
    """Cards and tables, with what was observed taken out: pyGMs is told the rest."""
    cards, tables = uai.factors(path)
    known = uai.evidence(path)
    sliced = []
    for scope, table in tables:
        left = [v for v in scope if v not in known]
        if left:
            sliced.append((left, table[tuple(known.get(v, slice(None)) for v in scope)]))
    return {v: card for v, card in enumerate(cards) if v not in known}, sliced
