"""When compiled code is used: loaded beside small questions where it is kept, compiled only for who stays."""

import os
import subprocess
import sys
import textwrap

ASK = """
    import sys, time
    import pgm
    from pgm import jit
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


def test_a_short_process_compiles_nothing(tmp_path):
    """Its end would have to wait for the part that is being compiled."""
    assert ask(0.1, 1.0, NUMBA_CACHE_DIR=str(tmp_path)) == ["True", "False"]
    assert not list(tmp_path.rglob("*.nbi"))


def test_who_stays_gets_compiled_code():
    assert ask(0.1, 500.0) == ["True", "True"]


def test_a_fork_does_not_wait_for_who_waits_for_it():
    """Handlers of forks registered last run first: ours must come before that of `logging`, which locks."""
    script = """
        import os, threading
        import pgm
        import logging
        from pgm import jit
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
