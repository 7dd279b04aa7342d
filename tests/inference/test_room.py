"""The memory that questions take before they are refused, and while they run, as the system counts it."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

import pgm
from pgm.evidence import observe
from pgm.inference.engines.branching import branch_and_bound, relaxation
from pgm.inference.engines.branching.branching_arrays import lay_out
from pgm.inference.engines.branching.open_parts import Dive, OpenParts
from pgm.inference.engines.by_position import make_posterior
from pgm.inference.program.reduction import reduce_everything
from pgm.runtime.clock import Clock
from tests.inference.test_extremes import run
from tests.machine import memory

# What a question takes of memory, as the system sees it: no tracer of Python sees what compiled loops take.
ASK = """
    import json, re
    import numpy as np, pgm
    from tests.inference.test_plans import reset_peak
    from tests.machine import memory

    def refused(ask, limit):
        before = memory("VmRSS")
        reset_peak()
        try:
            with pgm.config(memory_limit=limit):
                ask()
            said = ""
        except pgm.TooLarge as error:
            said = str(error)
        return [said, memory("VmHWM") - before]
"""


@pytest.mark.skipif(not memory("VmHWM"), reason="the system does not say how much memory was in use")
def test_cuts_of_a_large_grid_are_refused_before_they_take_memory() -> None:
    """Of 1,000,000 pixels compiling takes 310 MB, what is left of them 180 MB, the cut 880 MB."""
    out = run(
        ASK
        + """
    def grid(n):
        pixels = np.random.default_rng(0).integers(2, size=(n, n))
        return pgm.MarkovNetwork.grid(pixels, states=[0, 1], coupling=0.1, unary=[[.8, .2], [.3, .7]])
    grid(300).map(engine="cuts")  # the code is loaded
    large = grid(1000)
    found = [refused(lambda: large.map(engine="cuts"), "100 MB")]
    large._compile()
    found += [refused(lambda: large.map(engine="cuts"), limit) for limit in ("100 MB", "400 MB")]
    print(json.dumps(found))
    """
    )
    compiling, reducing, cutting = json.loads(out)
    assert "Compiling this model of 1,000,000 variables" in compiling[0]
    assert compiling[1] < 100e6
    assert "Reduced to what the question needs" in reducing[0]
    assert reducing[1] < 100e6
    assert "The cuts for 1,000,000 variables" in cutting[0]
    assert cutting[1] < 400e6


def test_what_a_dive_leaves_open_takes_what_is_counted() -> None:
    """20,000 decisions, each with another side: beginnings of them written out would be 1.6 GB."""
    tracemalloc.start()
    found, dive = OpenParts(1e9), Dive(2 * np.arange(20_000))
    for i in range(20_000):
        found.push(i, dive, i + 1, deep=True, flipped=True)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size < 1.1 * found._held < 6e6
    assert found.least() == 0
    last = found.pop()
    assert last.floor == 19_999
    assert last.path().tolist() == [*range(0, 39_998, 2), 39_999]
    assert found.drop(10_000, sort=True)
    assert [found.pop().floor for _ in range(10_000)] == list(range(10_000))
    assert not found.drop(10_000, sort=True)
    assert found._held == 0


def test_open_parts_go_depth_first_where_memory_is_short() -> None:
    """By their floors while they fit; then the last first, so that their number grows slowly."""
    found = OpenParts(1000.0)
    for floor in (5, 3, 4, 1, 2, 0, 7):
        found.push(floor, Dive(np.zeros(1, np.int64)), 1, deep=False)
    assert [found.pop().floor for _ in range(7)] == [7, 0, 2, 1, 3, 4, 5]


def test_highs_is_asked_only_where_it_fits_beside_the_tables() -> None:
    rng = np.random.default_rng(0)
    net = pgm.MarkovNetwork()
    for i in range(20):
        net.add_variable(f"x{i}", states=range(5))
        for j in range(max(0, i - 3), i):
            net.add_factor([f"x{j}", f"x{i}"], rng.uniform(0.1, 1.0, (5, 5)))
    clock = Clock(None, None)
    posterior = make_posterior(net._compile(), observe(net.variables, {}), clock)
    layout = lay_out(reduce_everything(posterior.program, posterior.known, clock), "branch-and-bound")
    p, s = layout.problem, layout.state
    left = relaxation.residual(p, s, 1e9)
    assert left is not None
    columns = left.states.size + left.rest.size
    assert relaxation.residual(p, s, 4000.0 * columns + 1.0) is not None
    assert relaxation.residual(p, s, 4000.0 * columns - 1.0) is None
    with pgm.config(memory_limit="1 MB"):
        tight = lay_out(reduce_everything(posterior.program, posterior.known, clock), "branch-and-bound")
    assert 0.0 < tight.room < 1e6
    work = branch_and_bound._Branching(tight, 0, clock)
    work.branch(turns=True)
    assert work.best == work.floor()
    with pgm.config(memory_limit="1 MB"):
        assert net.map(engine="branch-and-bound").exact
