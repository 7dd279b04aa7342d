"""Limits hold for their block or from then on, reach workers, and are refused when they mean nothing."""

import asyncio
import contextvars
import gc
import importlib
import io
import math
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.config import config, current, parse_size, set_config
from pgm.errors import InvalidArgument, OutOfTime
from pgm.runtime import progress
from pgm.runtime.clock import start_clock

settings = importlib.import_module("pgm.config")  # `pgm.config` itself is the function in it


def test_settings_hold_for_the_block_and_nest():
    before = current().threads
    with config(memory_limit="1 GB", threads=3, time_limit=60) as outer:
        assert (outer.memory_limit, outer.threads, outer.time_limit) == (10**9, 3, 60.0)
        with config(threads=2, time_limit=None):
            assert (current().memory_limit, current().threads, current().time_limit) == (10**9, 2, None)
        assert current().threads == 3
    assert current().threads == before
    assert current().time_limit is None


def test_settings_are_restored_after_an_error_and_a_config_can_be_used_twice():
    two = config(threads=2)
    with pytest.raises(RuntimeError), two:
        raise RuntimeError
    assert current().threads == settings._processors()
    with two, two:
        assert current().threads == 2
    assert current().threads == settings._processors()


def test_none_means_the_default():
    with config(memory_limit=5, threads=1, progress=True, time_limit=1):
        with config(memory_limit=None, threads=None, progress=None, time_limit=None):
            now = current()
    assert now.memory_limit > 2**20
    assert now.memory_origin == "half of the memory that is free"
    assert (now.threads, now.progress, now.time_limit) == (settings._processors(), False, None)


def in_a_thread(work):
    """What `work` returns in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@pytest.fixture
def restored():
    """Every permanent option is again what it was by default."""
    yield
    set_config(memory_limit=None, time_limit=None, threads=None, progress=False)


def test_blocks_of_the_main_thread_reach_workers():
    with config(threads=7), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: current().threads).result() == 7
        with config(memory_limit=2 * 10**9):  # a worker that began before this block
            now = pool.submit(current).result()
            assert (now.threads, now.memory_limit) == (7, 2 * 10**9)
        assert pool.submit(current).result().memory_limit != 2 * 10**9
        assert contextvars.copy_context().run(lambda: current().threads) == 7
    assert in_a_thread(lambda: current().threads) == settings._processors()


def test_a_time_limit_reaches_workers():
    def ask(net):
        return net.query("HR", {"CVP": "LOW"})

    net = pgm.load_network("alarm")
    with config(time_limit=1e-9), ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(ask, net) for _ in range(4)]:
            with pytest.raises(OutOfTime):
                future.result()


def test_what_a_thread_sets_itself_holds_there_alone():
    def worker():
        with config(threads=2):
            first = current()
            ready.set()
            assert go.wait(60)
        return first, current()

    ready, go = threading.Event(), threading.Event()
    with config(threads=7, time_limit=60), ThreadPoolExecutor(1) as pool:
        future = pool.submit(worker)
        assert ready.wait(60)
        assert current().threads == 7
        go.set()
        inside, after = future.result()
    assert (inside.threads, inside.time_limit) == (2, 60.0)
    assert (after.threads, after.time_limit) == (7, 60.0)


def test_tasks_leave_their_blocks_in_any_order():
    async def ask(threads, first, then):
        with config(threads=threads):
            await first.wait()
            seen = current().threads, in_a_thread(lambda: current().time_limit)
        then.set()
        return seen

    async def main():
        now, last = asyncio.Event(), asyncio.Event()
        now.set()
        late = asyncio.create_task(ask(2, last, asyncio.Event()))
        return await asyncio.gather(late, ask(3, now, last))

    with config(time_limit=5):
        assert asyncio.run(main()) == [(2, 5.0), (3, 5.0)]
    assert in_a_thread(current).time_limit is None


def test_set_config_holds_from_then_on_in_every_thread(restored):
    set_config(threads=3, memory_limit="1 GB")
    for now in (current(), in_a_thread(current)):
        assert (now.threads, now.memory_limit, now.time_limit) == (3, 10**9, None)
    with config(threads=5):
        assert (current().threads, current().memory_limit) == (5, 10**9)
        set_config(threads=4, time_limit=9)  # the block has its own number of threads, and no limit of time
        assert (current().threads, current().time_limit) == (5, 9.0)
    assert (current().threads, current().time_limit) == (4, 9.0)
    set_config(threads=None)
    assert (current().threads, current().memory_limit) == (settings._processors(), 10**9)
    with pytest.raises(InvalidArgument, match="threads=0 must be a whole number"):
        set_config(memory_limit="2 GB", threads=0)
    assert current().memory_limit == 10**9  # a call that fails sets nothing
    with pytest.raises(TypeError):
        set_config(memory="4 GB")


def test_a_call_without_with_warns_at_its_line():
    with pytest.warns(UserWarning, match="without `with`, and nothing was set") as caught:
        config(time_limit=3, threads=2)
    assert [one.filename for one in caught] == [__file__]
    said = str(caught[0].message)
    assert "Write `with pgm.config(time_limit=3.0, threads=2):` around the questions" in said
    assert "pgm.set_config(time_limit=3.0, threads=2), which holds from then on" in said
    kept = config(threads=2)
    assert repr(kept).endswith("pgm.set_config(...) from then on")  # what a notebook shows, and keeps
    with pytest.warns(UserWarning, match="nothing was set"):
        del kept


def test_a_block_does_not_warn(recwarn):
    with config(threads=2):
        pass
    with pytest.raises(InvalidArgument):
        config(threads=0)
    config()
    gc.collect()
    assert not recwarn.list


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4 GB", 4 * 10**9),
        ("500 MB", 5 * 10**8),
        ("2 GiB", 2**31),
        ("2gib", 2**31),
        ("1.5 kB", 1500),
        ("3G", 3 * 10**9),
        ("100", 100),
        ("100 B", 100),
        (2**40, 2**40),
        (4e9, 4 * 10**9),
        (np.int64(7), 7),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "size",
    ["", "GB", "4 XB", "-1 GB", "4 GB GB", 0, -1, True, math.nan, math.inf, 2**63, [], "9" * 10**5, "1e9"],
)
def test_a_bad_size_is_refused(size):
    with pytest.raises(InvalidArgument, match=r"memory_limit=.*is not a size; write '4 GB'"):
        config(memory_limit=size)


@given(st.text(max_size=20))
def test_no_text_breaks_the_size_parser(text):
    try:
        assert parse_size(text) >= 1
    except InvalidArgument:
        pass


@pytest.mark.parametrize("limit", [0, -1, math.nan, math.inf, "60", True, [], 10**400])
def test_a_bad_time_limit_is_refused(limit):
    with pytest.raises(InvalidArgument, match="must be a positive number of seconds"):
        config(time_limit=limit)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 10**9])
def test_a_bad_number_of_threads_is_refused(threads):
    with pytest.raises(InvalidArgument, match="must be a whole number from 1 to 4096"):
        config(threads=threads)


def test_bad_progress_and_unknown_options_are_refused():
    with pytest.raises(InvalidArgument, match="progress='yes' must be True, False, or a function"):
        config(progress="yes")
    with pytest.raises(TypeError):
        config(memory="4 GB")


def test_the_clock():
    clock = start_clock()
    clock.check()
    assert clock.deadline is None
    assert clock.remaining() == math.inf
    with config(time_limit=0.001):
        clock = start_clock()
        assert 0 < clock.remaining() <= 0.001
        time.sleep(0.002)
        assert clock.remaining() == 0
        with pytest.raises(
            OutOfTime, match=r"time limit of 0\.001 s\. Allow more with pgm\.set_config\(time_limit"
        ):
            clock.check()


def test_the_default_limit_minds_machine_and_container(monkeypatch, tmp_path):
    limit, usage, stat = tmp_path / "max", tmp_path / "current", tmp_path / "stat"
    limit.write_text("1000000\n")
    usage.write_text("700000\n")
    stat.write_text("anon 5\ninactive_file 100000\n")
    group = (str(limit), str(usage), str(stat))
    assert settings._free_of_group(group) == 400_000
    monkeypatch.setattr(settings, "_groups", lambda: (group,))
    assert settings._free_memory() == 400_000
    limit.write_text("max\n")
    assert settings._free_of_group(group) is None
    assert settings._free_memory() == settings._free_of_machine() or settings._free_memory() > 2**20
    usage.write_text("2000000\n")
    limit.write_text("1000000\n")
    assert settings._free_memory() == 0  # over the limit: nothing is left, and no negative number


def test_where_the_system_says_nothing_the_limit_says_so(monkeypatch):
    monkeypatch.setattr(settings, "_free_memory", lambda: None)
    monkeypatch.setattr(settings, "_reading", (-math.inf, 0, ""))
    assert current().memory_limit == 2**30
    assert "does not say" in current().memory_origin
    monkeypatch.setattr(settings, "_reading", (-math.inf, 0, ""))


def test_progress_is_silent_unless_asked(capsys):
    progress.report(1, 2, "counting")
    assert capsys.readouterr() == ("", "")


def test_progress_calls_back_seldom_and_at_the_end(monkeypatch):
    calls = []
    with config(progress=lambda *call: calls.append(call)):
        for i in range(1, 1001):
            progress.report(i, 1000, "counting")
    assert calls[-1] == (1000, 1000, "counting")
    assert len(calls) < 100


def test_the_bar(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with config(progress=True):
        progress.report(5, 5, "counting")
        progress.report(0, 0, "nothing")  # no division by zero
    assert stream.getvalue().startswith(f"\rcounting [{'#' * 30}] 100%\n")


def test_it_prints_as_it_is_written() -> None:
    limits = config(memory_limit="4 GB", threads=2)
    written = "pgm.config(memory_limit=4000000000, threads=2)"
    assert repr(limits) == (
        f"{written}  # nothing is set yet: this holds inside `with`, pgm.set_config(...) from then on"
    )
    with limits:
        assert repr(limits) == written
    assert repr(limits) == written
