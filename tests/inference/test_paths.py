"""Every way in which the exact engine may run, forced in turn, over the questions of test_truth."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import pgm
from pgm.inference import program, trees
from pgm.inference.engines.exact import posterior, tree_runs
from pgm.inference.trees import shared_trees, sparse_cliques, sweeps
from pgm.inference.trees.sweeps import row_slices
from pgm.runtime import threads
from pgm.runtime.running import Narrow
from tests.inference import test_truth as truth

FEWER = settings(max_examples=60)


def never(*_: Any, **__: Any) -> None:
    return None


def narrow(*_: Any, **__: Any) -> None:
    raise Narrow


def sliced_always(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_trees, "_NEW_TREE", np.inf)


def new_tree_always(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_trees, "consider", never)


def without_domains(patch: pytest.MonkeyPatch) -> None:
    new_tree_always(patch)
    whole = posterior.reduce_case
    patch.setattr(posterior, "reduce_case", lambda *a, **k: whole(*a, **{**k, "domains": False}))


def wide_numbers(patch: pytest.MonkeyPatch) -> None:
    new_tree_always(patch)
    patch.setattr(tree_runs, "inward", narrow)


def shared_by_threads(patch: pytest.MonkeyPatch) -> None:
    """Even the smallest tree is hung from its middle and swept by two threads."""
    patch.setattr(shared_trees, "_AT_ONCE", -1.0)
    patch.setattr(sweeps, "_WORTH_THREADS", -1.0)
    patch.setattr(trees, "_WORTH_BALANCE", -1.0)
    patch.setattr(threads, "_SHORT", -1.0)


def threads_on_new_trees(patch: pytest.MonkeyPatch) -> None:
    shared_by_threads(patch)
    new_tree_always(patch)


def slabs_of_every_clique(patch: pytest.MonkeyPatch) -> None:
    """Threads share the rows of each clique in turn, not parts of the tree."""
    shared_by_threads(patch)
    patch.setattr(row_slices, "_LEAST_ENTRIES", 0)

    def above_all_parts(parent: np.ndarray, cost: np.ndarray, threads: int) -> np.ndarray:
        return np.full(parent.size, -1)

    patch.setattr(sweeps, "TREES", SimpleNamespace(shares=above_all_parts))


def sparse(patch: pytest.MonkeyPatch) -> None:
    """Every clique that sums something out has a list of its entries."""
    sliced_always(patch)
    patch.setattr(shared_trees, "_AT_ONCE", -1.0)
    patch.setattr(sparse_cliques, "_LEAST_ENTRIES", 0)
    patch.setattr(sparse_cliques, "_SHARE", 2.0)
    patch.setattr(sparse_cliques, "_FULL", 2.0)


def walked(patch: pytest.MonkeyPatch) -> None:
    """The tables of even the smallest model stand in an order that goes from one to its neighbours."""
    patch.setattr(program, "_FAR_APART", 0)
    patch.setattr(program, "_FAR", 0)


PATHS = [
    sliced_always,
    new_tree_always,
    without_domains,
    wide_numbers,
    shared_by_threads,
    threads_on_new_trees,
    slabs_of_every_clique,
    sparse,
    walked,
]


@pytest.fixture(scope="module", autouse=True, params=PATHS, ids=lambda path: path.__name__)
def path(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, pgm.config(threads=2):
        request.param(patch)
        yield


@FEWER
@given(data=truth.DATA)
def test_every_marginal(data):
    truth.test_every_marginal.hypothesis.inner_test("exact", data)


@FEWER
@given(data=truth.DATA)
def test_one_target(data):
    truth.test_one_target.hypothesis.inner_test("exact", data)


@FEWER
@given(data=truth.DATA)
def test_a_joint(data):
    truth.test_a_joint.hypothesis.inner_test("exact", data)


@FEWER
@given(data=truth.DATA)
def test_the_probability_of_evidence(data):
    truth.test_the_probability_of_evidence.hypothesis.inner_test("exact", data)


@FEWER
@given(data=truth.DATA)
def test_soft_evidence(data):
    truth.test_soft_evidence.hypothesis.inner_test("exact", data)


@FEWER
@given(data=truth.DATA)
def test_samples_follow_the_posterior(data):
    truth.test_samples_follow_the_posterior.hypothesis.inner_test(data)


@FEWER
@given(data=truth.DATA)
def test_expected_counts(data):
    truth.test_expected_counts.hypothesis.inner_test(data)
