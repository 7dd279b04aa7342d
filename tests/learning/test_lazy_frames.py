"""Frames that stay in their engine, or come in chunks: all is as with the frame in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pgm
from pgm.errors import InvalidArgument, InvalidFrame, OutOfTime, TooLarge, UnknownState
from pgm.frames import Held, hold, lazily

ASIA = pgm.load_network("asia")
ROWS = ASIA.sample(1200, seed=0).to_pandas().assign(n=np.arange(1200) % 3)
CHILD = pgm.load_network("child")
WIDE = CHILD.sample(600, seed=0).to_pandas()


def duckdb_of(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb").from_df(frame)


def dask_of(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


LAZY: dict[str, Callable[[pd.DataFrame], Any]] = {
    "polars": lambda frame: pl.from_pandas(frame).lazy(),
    "duckdb": duckdb_of,
    "dask": dask_of,
}
CHUNKS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: (frame[i : i + 250] for i in range(0, len(frame), 250)),
    "polars": lambda frame: iter([pl.from_pandas(frame[:100]), pl.from_pandas(frame[100:])]),
    "pyarrow": lambda frame: pa.Table.from_pandas(frame).to_reader(300),
    "categories": lambda frame: (frame[i : i + 250].astype("category") for i in range(0, len(frame), 250)),
}
EVERY = [pytest.param(make, id=name) for name, make in LAZY.items()] + [
    pytest.param(make, id=f"chunks of {name}") for name, make in CHUNKS.items()
]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small frames are to go the way of large ones."""
    monkeypatch.setattr(lazily, "_FIRST", 50)
    monkeypatch.setattr(lazily, "_CHUNK", 333)


def alike(one: pgm.BayesianNetwork, other: pgm.BayesianNetwork, within: float = 0.0) -> None:
    for node in one.nodes:
        assert one.variables[node] == other.variables[node]
        np.testing.assert_allclose(one.cpd(node).values, other.cpd(node).values, atol=within)
    assert one.fit_report.n_rows == other.fit_report.n_rows
    assert one.fit_report.log_likelihood == pytest.approx(other.fit_report.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("make", EVERY)
def test_the_numbers_are_those_of_the_frame_in_memory(make: Callable[[pd.DataFrame], Any]) -> None:
    def net(edges: Any = ASIA.edges) -> pgm.BayesianNetwork:
        return pgm.BayesianNetwork(edges=edges)

    whole = net().fit(ROWS, prior="bdeu")
    alike(net().fit(make(ROWS), prior="bdeu"), whole)
    alike(net().fit(make(ROWS), prior="bdeu").partial_fit(make(ROWS)), whole.partial_fit(ROWS))
    alike(net().fit(make(ROWS), weights="n"), net().fit(ROWS, weights="n"))
    alike(net(CHILD.edges).fit(make(WIDE)), net(CHILD.edges).fit(WIDE))  # more than one group-by
    gaps = ROWS.astype(object).mask(np.random.default_rng(0).random(ROWS.shape) < 0.1)
    alike(net().fit(make(gaps), max_iter=5), net().fit(gaps, max_iter=5), 1e-12)
    hidden = ROWS.drop(columns="either")
    start = ASIA.copy()
    alike(
        start.copy().fit(make(hidden), latent=["either"], max_iter=3),
        start.fit(hidden, latent=["either"], max_iter=3),
        1e-12,
    )


@pytest.mark.parametrize("make", EVERY)
def test_the_arrows_are_those_of_the_frame_in_memory(make: Callable[[pd.DataFrame], Any]) -> None:
    for frame, given in ((ROWS, {"weights": "n"}), (ROWS.drop(columns="n"), {}), (WIDE, {})):
        found, known = (pgm.learn_structure(each, **given) for each in (make(frame), frame))
        assert found.network.edges == known.network.edges
        assert found.score == pytest.approx(known.score, rel=1e-12)
        assert found.n_rows == known.n_rows == len(frame)
    score = pgm.structure_score(ASIA, make(ROWS), "bdeu")
    assert score == pytest.approx(pgm.structure_score(ASIA, ROWS, "bdeu"), rel=1e-12)
    mrf = pgm.MarkovNetwork()
    for name in ("smoke", "lung"):
        mrf.add_variable(name, states=["no", "yes"])
    mrf.add_factor(["smoke", "lung"], np.ones((2, 2)))
    shares = mrf.fit(make(ROWS)).query(["smoke", "lung"])
    assert shares["yes", "no"] == pytest.approx(
        ((ROWS.smoke == "yes") & (ROWS.lung == "no")).mean(), abs=1e-5
    )
    assert mrf.fit_report.n_rows == 1200


@pytest.mark.parametrize("make", EVERY)
def test_numbers_and_bins_come_in_chunks(make: Callable[[pd.DataFrame], Any]) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": ["u", "v"] * 200, "x": rng.normal(size=400)})
    frame["y"] = frame.x * 2 + (frame.c == "v") + rng.normal(size=400)
    net, known = (pgm.BayesianNetwork(edges="c -> y <- x").fit(each) for each in (make(frame), frame))
    np.testing.assert_allclose(net.cpd("y").weights, known.cpd("y").weights, rtol=1e-12)
    bins = {"x": pgm.Bins([-9, 0, 9])}
    cut = pgm.BayesianNetwork(edges="x -> c").fit(make(frame), states=bins)
    assert cut.cpd("x").values[0] == pytest.approx((frame.x < 0).mean())


@pytest.mark.parametrize("make", EVERY)
def test_mistakes_are_answered(make: Callable[[pd.DataFrame], Any]) -> None:
    with pytest.raises(UnknownState, match=r"'smoke' has no state 'yess'.*Did you mean 'yes'"):
        ASIA.copy().fit(make(ROWS.replace({"smoke": {"yes": "yess"}})))
    with pytest.raises(InvalidFrame, match="no column 'smoke'"):
        ASIA.copy().fit(make(ROWS.drop(columns="smoke")))
    with pytest.raises(InvalidArgument, match="column's name, not 'm'"):
        ASIA.copy().fit(make(ROWS), weights="m")
    with pytest.raises(InvalidArgument, match="non-negative numbers"):
        ASIA.copy().fit(make(ROWS.assign(n=ROWS.n - 1)), weights="n")


def test_no_row_of_groups_is_named_and_few_configurations_are_counted_by_the_engine() -> None:
    with pytest.raises(UnknownState) as refused:
        ASIA.copy().fit(pl.from_pandas(ROWS.replace({"smoke": {"yes": "yess"}})).lazy())
    assert "Row" not in str(refused.value)
    held = hold(pl.from_pandas(ROWS).lazy(), ["smoke", "lung"])
    groups = ROWS.groupby(["lung", "smoke"]).size()
    assert (held.n_rows, sorted(held.weights)) == (1200, sorted(groups))
    families = [(*CHILD.parents(node), node) for node in CHILD.nodes]
    wide = hold(pl.from_pandas(WIDE).lazy(), CHILD.nodes, families=families)
    assert 1 < len(wide.families) < len(families)
    for family in families:
        assert any(set(family) <= set(each.frame) for each in wide.families)


def test_chunks_have_the_same_columns_and_fit_the_memory() -> None:
    net = pgm.BayesianNetwork(edges="a -> b")
    with pytest.raises(InvalidFrame, match=r"Chunk 1 \(the first is 0\) has no column 'b'"):
        net.fit(iter([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1]})]))
    with pytest.raises(InvalidFrame, match="no chunk"):
        net.fit(iter([]))
    with pytest.raises(InvalidFrame, match="not a data frame"):
        net.fit(iter([3]))
    with pgm.config(memory_limit=2000), pytest.raises(TooLarge, match="partial_fit"):
        net.fit(pd.DataFrame({"a": [0, 1] * 100, "b": [1, 0] * 100}) for _ in range(100))
    mixed = [pd.DataFrame({"a": [True, None], "b": ["x", "y"]}), pd.DataFrame({"a": [False], "b": ["x"]})]
    assert net.fit(iter(mixed), max_iter=1).variables["a"].states == (False, True)

    def endless() -> Any:
        while True:
            yield pd.DataFrame({"a": [0, 1], "b": [1, 0]})

    before = net.copy()
    with pgm.config(time_limit=0.2), pytest.raises(OutOfTime):
        net.fit(endless())
    assert net == before


def test_a_frame_in_memory_is_left_alone() -> None:
    table = pa.table({"a": [1, 2]})
    for frame in (ROWS, table, {"a": [1]}, [{"a": 1}], 3):
        assert hold(frame, ["a"]) == Held(frame, None) or hold(frame, ["a"]).frame is frame


# --- searches over rows that do not fit the memory ----------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rows fit the memory, and few configurations are counted at once."""
    monkeypatch.setattr(lazily, "_GROUPS", 1 << 12)
    monkeypatch.setattr("pgm.frames.lazily.current", lambda: type("Tiny", (), {"memory_limit": 0}))
    monkeypatch.setattr("pgm.learning.counts.asked._TOGETHER", 100)


SEARCHED = CHILD.sample(900, seed=3).to_pandas().iloc[:, :9].assign(n=np.arange(900) % 3)
STATES = {name: list(CHILD.variables[name].states) for name in SEARCHED.columns if name != "n"}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
@pytest.mark.parametrize(
    "options",
    [
        {"search": "tabu"},
        {"search": "hill-climb", "weights": "n"},
        {"search": "ges"},
        {"search": "exact", "max_parents": 2, "score": "bdeu"},
        {"search": "chow-liu"},
        {"search": pgm.searches.PC(max_given=2)},
        {"search": pgm.searches.PC(test=pgm.independence.Permutation(shuffles=40), max_given=1), "seed": 0},
        {"search": pgm.searches.K2Search(order=sorted(STATES))},
        {"search": "mmhc"},
        {"search": pgm.searches.OrderMCMC(steps=200, burn_in=50), "max_parents": 2, "seed": 0},
    ],
    ids=lambda options: str(options["search"])[:12],
)
def test_searches_ask_the_engine_for_the_counts_of_families(
    make: Callable[[pd.DataFrame], Any], options: dict[str, Any]
) -> None:
    rows = SEARCHED if "weights" in options else SEARCHED.drop(columns="n")
    whole = pgm.learn_structure(rows, states=STATES, **options)
    found = pgm.learn_structure(make(rows), states=STATES, **options)
    assert found.network.edges == whole.network.edges
    assert found.n_rows == 900
    assert found.score is None or found.score == pytest.approx(whole.score, rel=1e-12)
    for node in whole.network.nodes:
        np.testing.assert_allclose(found.network.cpd(node).values, whole.network.cpd(node).values, rtol=1e-12)


@pytest.mark.usefixtures("small")
def test_few_group_bys_serve_many_families(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgm.learning.counts.asked._TOGETHER", 1 << 14)
    seen: list[Any] = []
    plain = lazily._grouped

    def counted(table: Any, names: Any, named: Any) -> Any:
        seen.append(tuple(names))
        return plain(table, names, named)

    monkeypatch.setattr(lazily, "_grouped", counted)
    rows = SEARCHED.drop(columns="n")
    pgm.learn_structure(pl.from_pandas(rows).lazy(), states=STATES, search="hill-climb")
    assert len(seen) < 60  # of hundreds of families
    score = pgm.structure_score(CHILD.copy(), CHILD.sample(300, seed=0))
    lazy = pl.from_pandas(CHILD.sample(300, seed=0).to_pandas()).lazy()
    assert pgm.structure_score(CHILD.copy(), lazy) == pytest.approx(score, rel=1e-12)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        ({}, {"bootstrap": 3}, "bootstrap= needs the rows, and 900 of them do not fit"),
        ({}, {"latent": {"h": 2}}, "latent= needs the rows"),
        ({"BirthAsphyxia": None}, {}, "Cells are missing in the columns 'BirthAsphyxia'.*only counts"),
    ],
)
def test_what_needs_the_rows_says_so(change: Any, options: dict[str, Any], words: str) -> None:
    rows = SEARCHED.drop(columns="n").astype(object)
    for name, value in change.items():
        rows.loc[5, name] = value
    with pytest.raises(pgm.PGMError, match=words):
        pgm.learn_structure(pl.from_pandas(rows).lazy(), states=STATES, **options)
