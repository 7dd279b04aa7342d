"""When compiled code is used: loaded beside small questions where it is kept, compiled only for who stays."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pgm
from pgm.runtime import built
from tests.machine import slowness

ASK = """
    import sys, time
    import pgm
    from pgm.runtime import jit
    net = pgm.load_network("asia")
    patience = float(sys.argv[1])
    while jit._spent < patience and not jit.compiled():
        net.marginals({"asia": "no"})
    begin = time.monotonic()
    while not jit.compiled() and time.monotonic() - begin < float(sys.argv[2]):
        net.marginals({"asia": "no"})
        time.sleep(0.01)
    print(jit._background is not None, jit.compiled())
"""


def ask(patience: float, seconds: float, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ASK), str(patience), str(seconds)],
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        env={**os.environ, **environment},
    )
    return done.stdout.split()


@pytest.mark.skipif(built.found(), reason="the loops of this checkout are compiled without numba")
def test_a_short_process_compiles_nothing(tmp_path):
    """Its end would have to wait for the part that is being compiled."""
    assert ask(0.1, 1.0, NUMBA_CACHE_DIR=str(tmp_path)) == ["True", "False"]
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.skipif(built.found(), reason="the loops of this checkout are compiled without numba")
def test_who_stays_gets_compiled_code():
    assert ask(0.1, 500.0) == ["True", "True"]


def test_a_fork_does_not_wait_for_who_waits_for_it():
    """Handlers of forks registered last run first: ours must come before that of `logging`, which locks."""
    script = """
        import os, threading
        import pgm
        import logging
        from pgm.runtime import jit
        begun, forking = threading.Event(), threading.Event()
        class Watched:
            def acquire(self):
                forking.set()
                return lock.acquire()
            def __enter__(self):
                lock.acquire()
            def __exit__(self, *error):
                lock.release()
            def release(self):
                lock.release()
        lock, jit._stepping = threading.Lock(), Watched()
        def step():
            begun.set()
            assert forking.wait(30)
            logging.getLogger("of what is imported while it compiles")
        jit._warm_steps[:], jit._kept = [step], lambda: True
        threading.Thread(target=jit._warm, daemon=True).start()
        begun.wait()
        child = os.fork()
        if child == 0:
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["0"]


HALF = """
    from pgm.runtime.jit import njit

    @njit
    def half(x):
        return x / 2
"""


def halved(tmp_path, before: str = "") -> tuple[str, str]:
    """What a new process computes with a compiled function, and what it says beside."""
    (tmp_path / "halves.py").write_text(textwrap.dedent(HALF))
    script = textwrap.dedent(before) + "\nfrom halves import half\nprint(half(3.0), half(5.0))\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": paths(tmp_path)},
    )
    return done.stdout, done.stderr


def paths(tmp_path) -> str:
    return os.pathsep.join([str(tmp_path), str(Path(pgm.__file__).parents[1])])


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_a_damaged_cache_is_mended(tmp_path, ending, left):
    assert halved(tmp_path) == ("1.5 2.5\n", "")
    (kept,) = (tmp_path / "kept").rglob(f"*.{ending}")
    kept.write_bytes(kept.read_bytes()[:left])
    answer, said = halved(tmp_path)
    assert answer == "1.5 2.5\n"
    assert said.count("RuntimeWarning: The compiled code of pgm in") == 1
    assert str(tmp_path) in said
    assert halved(tmp_path) == ("1.5 2.5\n", "")


def test_a_full_disk_keeps_nothing_and_answers(tmp_path):
    full = """
        import numba.core.caching
        def save(*args):
            raise OSError(28, "No space left on device")
        numba.core.caching.IndexDataCacheFile.save = save
    """
    answer, said = halved(tmp_path, full)
    assert answer == "1.5 2.5\n"
    assert "No space left on device" in said
    assert "NUMBA_CACHE_DIR" in said


def test_ctrl_c_interrupts_the_compiler(tmp_path):
    """Whenever it comes: as itself, at once; and what was being compiled is there for who asks again."""
    lines = [f"    x = x * {i}.5 - y[{i % 7}] if x > {i} else x + y[{i % 5}] ** 2" for i in range(120)]
    text = [
        "from pgm.runtime.jit import njit",
        *(f"@njit\ndef f{k}(x, y):\n" + "\n".join(lines) for k in range(8)),
    ]
    (tmp_path / "long.py").write_text(
        "\n".join(f"{part}\n    return x\n" if k else part for k, part in enumerate(text))
    )
    script = """
        import os, signal, sys, threading, time
        import numpy as np
        import long
        y = np.ones(7)
        for k, delay in enumerate((0.01, 0.05, 0.1, 0.2, 0.3, 0.5)):
            begun = []
            def kill():
                begun.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            timer = threading.Timer(delay, kill)
            try:
                timer.start()
                getattr(long, f"f{k}")(1.0, y)
                timer.join()
                time.sleep(0.2)
                print("too quick")
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - begun[0])
        print(long.f0(1.0, y) == long.f0.py_func(1.0, y))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": paths(tmp_path)},
    )
    assert done.stderr == ""
    *each, last = done.stdout.splitlines()
    assert last == "True"
    assert len(each) == 6
    for line in each:
        word, seconds = line.split()
        assert word == "interrupted"
        assert float(seconds) < 0.5 * slowness()
