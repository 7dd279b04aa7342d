"""What every question begins and ends with: its engine and clock, and the wording of failures.

Questions, compiled queries and frames all pass through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from pgm.errors import InvalidArgument, shown
from pgm.evidence import Observed
from pgm.inference.asking.failures import contradiction, no_fit
from pgm.inference.engines import Engine, find, instead
from pgm.inference.engines.model_snapshot import ModelSnapshot
from pgm.inference.program.proportional_fitting import NoFit
from pgm.inference.trees.needs import Question
from pgm.runtime.clock import Clock, start_clock
from pgm.runtime.running import Impossible

_Answer = TypeVar("_Answer")


def begin(engine: str | Engine, question: Question) -> tuple[Engine, Clock]:
    """The engine of this name, and a clock whose OutOfTime names other engines that could answer."""
    clock = start_clock()
    chosen = find(engine, question)
    clock.remedy = instead(chosen.approximates, question)
    return chosen, clock


def also_answers(engine: str | Engine, question: Question, clock: Clock) -> Engine:
    """The engine for what the question turned out to be; OutOfTime then names others that could answer."""
    chosen = find(engine, question)
    clock.remedy = instead(chosen.approximates, question)
    return chosen


def answered(
    compiled: ModelSnapshot,
    observed: Observed | None,
    clock: Clock,
    work: Callable[[], _Answer],
    *,
    explain: bool = True,
) -> _Answer:
    """Do the work of a question, and report failures in the user's terms.

    Args:
        compiled: the model.
        observed: the evidence; None for a frame, whose impossible rows are found one by one.
        clock: the clock of the question.
        work: the work to do.
        explain: whether to explain impossible evidence to the user; otherwise `Impossible` reaches the
            caller.
    """
    try:
        return work()
    except NoFit as error:
        if observed is None:
            raise
        raise no_fit(compiled, observed, clock, error) from None
    except Impossible:
        if observed is None or not explain:
            raise
        raise contradiction(compiled, observed, clock) from None


def whole(value: object, name: str, least: int) -> int:
    """The value as an int; raises `InvalidArgument` unless it is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(f"{name} is a whole number of at least {least}, not {shown(value)}.")
    return int(value)
