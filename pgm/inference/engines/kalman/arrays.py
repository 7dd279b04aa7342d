"""A linear dynamical system as the loops take it: tables of matrices, and the row that each step uses."""

from __future__ import annotations

from typing import Any, NamedTuple

from pgm.runtime.clock import Clock
from pgm.runtime.kinds import ByteTable, Floats, FloatTable, Ints
from pgm.runtime.loops import Loops
from pgm.runtime.running import run

KALMAN = Loops("pgm.inference.engines.kalman.compiled", "filtering")


class Steps(NamedTuple):
    """The steps of one pattern of observed entries; each row of a table is a flattened matrix.

    x[t+1] = A x[t] + pushes + G e with e ~ N(0, diag(weights)), and y[t, i] = C[i] x[t] + N(0, noise[i]): the
    entries of y are independent given x[t].
    """

    A: FloatTable  # (moves, n * n)
    G: FloatTable  # (moves, n * q)
    weights: FloatTable  # (moves, q)
    C: FloatTable  # (looks, m * n)
    noise: FloatTable  # (looks, m)
    move: Ints  # (T - 1,) the row of A, G and weights that leads from t to t + 1
    look: Ints  # (T,) the row of C and noise
    seen: ByteTable  # (T, m) which entries were observed
    start: Floats  # (n * n,) factors of the covariance of the first state


def looped(name: str, *args: Any, steps: int, clock: Clock) -> None:
    """Call a loop that takes about this many inner steps; Ctrl-C and the time limit stop it."""
    run(name, *args, steps=float(steps), clock=clock, module=KALMAN)
