"""Good states of pairwise models by expansion moves, with a bound on how much better others could be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pgm.errors import OutOfTime
from pgm.inference.engines.cuts import energies as tables
from pgm.inference.engines.cuts.flow import SINK, Network
from pgm.inference.program.reduction import Case
from pgm.runtime import progress
from pgm.runtime.clock import Clock
from pgm.runtime.running import CUTS, REDUCTION, run

_LOOK = 5  # sweeps between two checks of the bound's gain
_GAIN = 1e-7  # of the bound: what these sweeps must gain for more to follow
_SHARE = 0.4  # of the time, at most, for the bound


@dataclass(frozen=True, eq=False, slots=True)
class Moved:
    """The result of the moves."""

    states: np.ndarray  # a reduced code for each reduced variable
    least: float  # a lower bound on the energy: the sum of minus log2 of the reduced tables
    sweeps: int
    converged: bool  # no move improves it


def expand(case: Case, sweeps: int, bound_sweeps: int, clock: Clock) -> Moved:
    """Improve states until no expansion (Boykov, Veksler & Zabih 2001) or change of one variable helps.

    It starts from the states that the bound's messages favour. When time runs out, it returns the best so
    far.
    """
    r = case.reduced
    logs, sources = tables.logarithms(case)
    bound = _Bound(case, logs.take(sources))
    states = None
    done, converged = 0, False
    try:
        bound.raise_(bound_sweeps, clock)
        states = bound.favoured()
        labels = np.unique(r.states).tolist()
        moves = _Moves(case, tables.rounded(case, logs, sources, bits=40).values)
        while done < sweeps and not converged:
            converged = True
            for i, label in enumerate(labels):
                progress.report(done * len(labels) + i, sweeps * len(labels), "expansion moves")
                improved = moves.towards(states, label, clock)
                if improved is not None:
                    states, converged = improved, False
            improved = moves.downhill(states, clock)
            if improved is not None:
                states, converged = improved, False
            done += 1
        progress.report(1, 1, "expansion moves")
    except OutOfTime:
        converged = False
    if states is None:
        states = bound.favoured()
    return Moved(states, bound.value(), done, converged)


class _Moves:
    """The graph on which all moves are cuts."""

    def __init__(self, case: Case, energies: np.ndarray) -> None:
        self._case, self._energies = case, energies
        r = case.reduced
        uses = int(np.bincount(r.scopes, minlength=1).max(initial=1))
        self._wall = (1 << 56) // uses
        self._users = REDUCTION.users_of(r.cards.size, r.scope_at, r.scopes)
        self._owners = np.repeat(np.arange(r.cards.size), r.cards)
        pairs = np.flatnonzero(np.diff(r.scope_at) == 2)
        left, right = r.scopes[r.scope_at[pairs]], r.scopes[r.scope_at[pairs] + 1]
        nothing = np.zeros(pairs.size, np.int64)
        excess = np.zeros(r.cards.size, np.int64)
        self._network = Network(r.cards.size, left, right, nothing, nothing, excess)

    def towards(self, states: np.ndarray, label: int, clock: Clock) -> np.ndarray | None:
        """The best states in which some variables switch to this state; None if none should."""
        r, network = self._case.reduced, self._network
        other = states.copy()
        places = np.flatnonzero(r.states == label)
        other[self._owners[places]] = places - r.state_at[self._owners[places]]
        CUTS.move(
            r.cards,
            r.scope_at,
            r.scopes,
            r.table_at,
            self._energies,
            self._wall,
            states,
            other,
            network.forward,
            network.sister,
            network.residual,
            network.excess,
        )
        leave = network.push(clock) == SINK
        return np.where(leave, other, states) if leave.any() else None

    def downhill(self, states: np.ndarray, clock: Clock) -> np.ndarray | None:
        """States improved one variable at a time, for pairs that are not submodular; None if unchanged."""
        r = self._case.reduced
        found, costs = states.copy(), np.empty(int(r.cards.max(initial=1)), np.int64)
        arrays = (r.cards, r.scope_at, r.scopes, r.table_at, *self._users)
        steps = 20.0 * self._energies.size
        run(
            "descend",
            *arrays,
            self._energies,
            self._wall,
            costs,
            found,
            steps=steps,
            clock=clock,
            module=CUTS,
        )
        return found if (found != states).any() else None


class _Bound:
    """Messages that distribute tables among variables; each sweep raises the sum of the minima."""

    def __init__(self, case: Case, table: np.ndarray) -> None:
        r = self._reduced = case.reduced
        self._table = table
        cards = r.cards[r.scopes]
        self._message_at = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)
        self._messages = np.zeros(int(self._message_at[-1]))
        singles = np.flatnonzero(np.diff(r.scope_at) == 1)  # a table over one variable all goes to it
        into, out_of = (
            np.repeat(begins - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
            for begins, sizes in (
                (self._message_at[r.scope_at[singles]], cards[r.scope_at[singles]]),
                (r.table_at[singles], cards[r.scope_at[singles]]),
            )
        )
        self._messages[into] = self._table[out_of]
        owners = np.repeat(r.state_at[r.scopes], cards)
        within = np.arange(self._messages.size) - np.repeat(self._message_at[:-1], cards)
        belief = np.bincount(owners + within, self._messages, minlength=r.states.size)
        self._belief = belief.astype(np.float64, copy=False)  # bincount of nothing gives integers
        self._work = np.empty(2 * int(r.cards.max(initial=1)))
        self._user_at, _ = REDUCTION.users_of(r.cards.size, r.scope_at, r.scopes)
        self._steps = 8.0 * self._table.size + 4.0 * self._messages.size

    def raise_(self, sweeps: int, clock: Clock) -> None:
        """Sweep over all tables until that gains little, or the bound's share of the time is used."""
        r = self._reduced
        last = self.value()
        for done in range(1, sweeps + 1):
            if clock.limit is not None and clock.remaining() < (1.0 - _SHARE) * clock.limit:
                return
            progress.report(done, sweeps, "bounding")
            run(
                "ascend",
                r.cards,
                r.state_at,
                r.scope_at,
                r.scopes,
                r.table_at,
                self._table,
                self._message_at,
                self._messages,
                self._belief,
                self._work,
                steps=self._steps,
                clock=clock,
                module=CUTS,
            )
            if done % _LOOK == 0:
                now = self.value()
                if now - last <= _GAIN * max(1.0, abs(now)):
                    return
                last = now

    def favoured(self) -> np.ndarray:
        """The state of each variable with the smallest share."""
        states = np.empty(self._reduced.cards.size, np.int64)
        CUTS.lowest(self._reduced.state_at, self._belief, states)
        return states

    def value(self) -> float:
        """The bound that the messages prove, minus what rounding may have added."""
        r = self._reduced
        least = np.empty(r.factors.size + r.cards.size)
        error = CUTS.minima(
            r.cards,
            r.state_at,
            r.scope_at,
            r.scopes,
            r.table_at,
            self._user_at,
            self._table,
            self._message_at,
            self._messages,
            least,
        )
        rounding = float(error) + 2.0**-47 * float(np.abs(least).sum())  # of numpy's sum by halves
        return float(least.sum()) - rounding
