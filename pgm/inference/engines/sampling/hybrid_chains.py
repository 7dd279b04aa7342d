"""Markov chains over discrete and continuous variables: what a sweep draws, and from what.

Only the observed variables and their ancestors move; all others are drawn afterwards, in all kept cases at
once. A sweep draws the states in blocks, as in a model of tables, and then the continuous variables one by
one, each given all others: from a normal density where its own relation and its children's are linear
Gaussian; by a step of slice sampling (Neal 2003) where there are intervals or linear log odds too; and where
estimators or densities of their own are called, by a choice among several draws from its own distribution,
then among several proposals near by, all evaluated in one call for all chains (Tjelmeland 2004). Every few
sweeps a chain may jump to one of several cases drawn parents first, chosen by their likelihoods: so chains
reach whatever evidence and densities allow, even where states and values determine each other. All of these
moves leave the posterior invariant.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pgm.errors import InvalidArgument, NoSupportFound, OutOfTime, listed
from pgm.factors import Score
from pgm.inference.engines.gaussian import own_densities
from pgm.inference.engines.sampling import CALLED_CHAINS, CHAINS, Gibbs
from pgm.inference.engines.sampling.draws import generator, room_of
from pgm.inference.engines.sampling.hybrid_arrays import MoveArrays
from pgm.inference.engines.sampling.hybrid_cases import Cases, truncated
from pgm.inference.engines.sampling.hybrid_model import HybridModel
from pgm.inference.engines.sampling.hybrid_tables import StateTables, state_tables, write_called
from pgm.inference.engines.sampling.lookup_arrays import SAMPLING, check_samples
from pgm.runtime.clock import RUNNING
from pgm.runtime.progress import report as report_progress
from pgm.runtime.running import raise_status

_LEAST = 4  # states of each chain below which it cannot be diagnosed
_TRIES = 1000  # cases drawn to find where chains start
_ROUND = 10  # sweeps between two chances to jump, and cases that each chain may jump to
_OWN_DRAWS = 7  # proposals from a variable's own distribution
_PROPOSALS = 15  # near the present value
_HALVINGS = 6.0  # of the width of a distribution, at most: the scale of proposals is drawn anew each time
_UNIFORMS = 40  # of a step of slice sampling, all but three of which may be for rejected values


class HybridChains:
    """Several chains side by side, so that estimators are called for all of them at once."""

    def __init__(self, model: HybridModel, options: Gibbs, engine: str = Gibbs.name) -> None:
        """Find what moves, and how; `engine` is the name in error messages."""
        self.model, self.options, self.engine = model, options, engine
        self.above = model.needed(sorted(model.known))
        self._refuse_noiseless()
        self.tables: StateTables = state_tables(model, self.above, options)
        hidden = [int(x) for x in model.g.order if model.g.positions[x] in self.above and not model.seen[x]]
        children: dict[int, list[int]] = {x: [] for x in hidden}
        for v in sorted(self.above):
            for p in model.parents[v]:
                x = int(model.g.index_of[p])
                if x in children:
                    children[x].append(v)
        self.children = children
        self.called, plain = [], []
        for x in hidden:
            if x in model.g.own:
                columns = own_densities.block_of(model.g, x)
                if x == columns[-1]:
                    self.called.append(columns)
            elif self._is_plain(x):
                plain.append(x)
            else:
                self.called.append([x])
        self.moves = self._moves(plain)
        asked = bool(self.called) or not all(one.fixed for one in self.tables.called)
        usual = min(CALLED_CHAINS, options.samples // 8) if asked else CHAINS
        self.chains = usual if options.chains is None else options.chains

    def _refuse_noiseless(self) -> None:
        """Refuse sd=0: such a variable cannot move given its parents, nor can they given the variable."""
        model, d = self.model, self.model.g.arrays
        for v in sorted(self.above):
            x = int(model.g.index_of[v])
            if x < 0 or x in model.g.own or v in model.curves:
                continue
            if (d.sd[d.row_at[x] : d.row_at[x + 1]] > 0.0).all():
                continue
            above = [p for p in model.parents[v] if model.names[p] not in model.observed.given]
            if model.seen[x] and not above:
                continue
            follows = (
                f" follows {listed([model.names[p] for p in model.parents[v]])}"
                if model.parents[v]
                else " is"
            )
            raise InvalidArgument(
                f'{model.names[v]!r}{follows} without noise (sd=0), and engine="{self.engine}" needs noise '
                'to move. Use engine="exact", or give the variable an sd above 0.'
            )

    def _is_plain(self, x: int) -> bool:
        """Whether x and its children are linear: no estimator has to be called to move x."""
        model = self.model
        if int(model.g.positions[x]) in model.curves:
            return False
        for v in self.children[x]:
            c = int(model.g.index_of[v])
            linear = isinstance(model.scores[v], Score) if c < 0 else v not in model.curves
            if not linear:
                return False
        return True

    def _moves(self, plain: list[int]) -> MoveArrays:
        model = self.model
        child, slot, link, sliced = [], [], [], []
        child_at, link_at = [0], [0]
        for x in plain:
            for v in self.children[x]:
                c = int(model.g.index_of[v])
                if c < 0:
                    link.append(self.tables.link_of[v])
                else:
                    child.append(c)
                    slot.append(model.linear_parents(c).tolist().index(x))
            child_at.append(len(child))
            link_at.append(len(link))
            sliced.append(x in model.intervals or link_at[-1] > link_at[-2])
        ends = np.array([model.intervals.get(x, (-math.inf, math.inf)) for x in plain]).reshape(-1, 2)
        whole = [np.array(a, np.int64) for a in (plain, child_at, child, slot, link_at, link)]
        low, high = np.ascontiguousarray(ends.T)
        return MoveArrays(*whole, low=low, high=high, sliced=np.array(sliced, np.uint8))  # type: ignore[misc]

    # --- running ---

    def run(self, about: set[int]) -> tuple[np.ndarray, np.ndarray, int]:
        """The codes and values of the kept cases, chain after chain, and the count of kept sweeps.

        Args:
            about: variables that are needed beside those that move.
        """
        model, options = self.model, self.options
        chains, kept = self.chains, -(-options.samples // self.chains)
        every = float(chains) * kept
        room = every * (8.0 * model.program.n + 8.0 * model.g.n)
        check_samples(options.name, 2.0 * room, f"{int(every):,} samples of {len(model.names):,} variables")
        codes = np.zeros((chains, kept, model.program.n), np.int64)
        values = np.zeros((chains, kept, model.g.n))
        done = kept
        if self._has_moves():
            done = self._sweeps(codes, values)
        else:
            codes[:], values[:, :, model.seen] = self.tables.codes, model.value[model.seen]
        if done < kept:  # time is up: the variables that did not move take one more call each
            model.clock = replace(model.clock, deadline=None)
        cases = Cases(model, chains * done, generator(options.seed, 1 << 35))
        cases.codes[:] = codes[:, :done].reshape(-1, model.program.n)
        cases.values[:] = values[:, :done].reshape(-1, model.g.n)
        cases.draw(about | self.above, self.above)
        model.clock.lap(RUNNING)
        return cases.codes, cases.values, done

    def _has_moves(self) -> bool:
        return bool(self.tables.blocks is not None or self.called or self.moves.variable.size)

    def _sweeps(self, codes_kept: np.ndarray, values_kept: np.ndarray) -> int:
        model, options = self.model, self.options
        self.rng = generator(options.seed, 1 << 36)
        self._start()
        kept = len(codes_kept[0])
        for sweep in range(-options.burn_in, kept):
            try:
                model.clock.check("drawing samples")
                if sweep % _ROUND == 0:
                    self._jump()
                self._sweep()
            except OutOfTime:
                if sweep < _LEAST:
                    raise
                return sweep
            if sweep >= 0:
                codes_kept[:, sweep], values_kept[:, sweep] = self.codes, self.values
            report_progress(float(sweep + options.burn_in), float(kept + options.burn_in), "sweeps")
        return kept

    def _start(self) -> None:
        """Start the chains at cases drawn parents first that agree with the evidence."""
        model, options = self.model, self.options
        tried = Cases(model, max(_TRIES, self.chains), self.rng).draw(self.above)
        possible = np.flatnonzero(tried.logs > -math.inf)
        if not possible.size:
            raise NoSupportFound(
                f'engine="{self.engine}": none of {len(tried.logs):,} cases drawn parents first agrees with '
                "the evidence, and chains need one to start from; this does not prove that the evidence is "
                "impossible."
            )
        chosen = possible[np.arange(self.chains) % possible.size]
        self.codes, self.values = tried.codes[chosen], tried.values[chosen]
        spans = np.quantile(tried.values[possible], [0.16, 0.84], axis=0)
        widths = spans[1] - spans[0]
        self.widths = np.where(widths > 0.0, widths, 1.0)
        if self.tables.blocks is not None:
            layout = self.tables.layout
            r = layout.problem.case.reduced
            # the index of each code among the open states
            self._open_index = np.zeros((r.cards.size, int(model.program.arrays.cards.max())), np.int64)
            for i in range(r.cards.size):
                states = r.states[r.state_at[i] : r.state_at[i + 1]]
                self._open_index[i, states] = np.arange(states.size)
            self._room = room_of(layout)
            blocks = self.tables.blocks
            check_samples(options.name, 8.0 * float(blocks.messages.table_at[-1]), "messages inside blocks")
            self._pool = np.zeros(int(blocks.messages.table_at[-1]))
            self._base = self.tables.entries.base.copy()
            for one in self.tables.called:
                if one.fixed:
                    write_called(model, one, self.values[:1], self._base[np.newaxis])
            self._entries = self.tables.entries._replace(base=self._base)
            size = 8.0 * self.chains * self._base.size
            check_samples(options.name, size, "tables of all chains")
            self._tables = np.empty((self.chains, self._base.size))

    def _sweep(self) -> None:
        chains = range(self.chains)
        if self.tables.blocks is not None:
            for chain in chains:
                SAMPLING.rewrite(
                    self.model.g.arrays,
                    self.tables.links,
                    self._entries,
                    self.values[chain],
                    self._tables[chain],
                )
            for one in self.tables.called:
                if not one.fixed:
                    write_called(self.model, one, self.values, self._tables)
            for chain in chains:
                self._states(chain)
        n = self.moves.variable.size
        if n:
            normals = self.rng.standard_normal((self.chains, n))
            uniforms = self.rng.random((self.chains, int(self.moves.sliced.sum()), _UNIFORMS))
            for chain in chains:
                SAMPLING.move_continuous(
                    self.model.g.arrays, self.tables.links, self.moves, self.model.cards, self.codes[chain],
                    normals[chain], uniforms[chain], self.values[chain],
                )  # fmt: skip
        for columns in self.called:
            self._move(columns)

    def _states(self, chain: int) -> None:
        """Draw all open states of a chain, block by block."""
        layout, blocks = self.tables.layout, self.tables.blocks
        assert blocks is not None
        r, split = layout.problem.case.reduced, self.tables.n_logs
        mine = self._tables[chain]
        arrays = layout.arrays._replace(logs=mine[:split], local=mine[split:])
        current = self._open_index[np.arange(r.cards.size), self.codes[chain, r.variables]]
        states: np.ndarray = np.empty((1, r.cards.size), layout.states_type)
        uniforms = self.rng.random((1, blocks.steps.variable.size))
        stop = np.zeros(1, np.uint8)
        args = arrays, blocks.steps, blocks.messages, self._pool, blocks.block_at
        status = SAMPLING.sweep(*args, current, uniforms, states, self._room, stop)
        raise_status(int(status), "sweep", self.model.clock)
        self.codes[chain, r.variables] = r.states[r.state_at[:-1] + current]

    # --- moves by estimators and densities of their own, in all chains at once ---

    def _children_logs(self, columns: list[int], codes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The log likelihood of these variables: of their children, and of the intervals they lie in."""
        logs = np.zeros(len(codes))
        children = {v for x in columns for v in self.children[x]}
        for v in sorted(children - set(self.model.g.positions[columns].tolist())):
            logs += self.model.logs(v, codes, values)
        for x in columns:
            if x in self.model.intervals:
                low, high = self.model.intervals[x]
                logs[(values[:, x] < low) | (values[:, x] >= high)] = -math.inf
        return logs

    def _move(self, columns: list[int]) -> None:
        """Choose among draws from the variables' own distribution, then among proposals near by."""
        own, k, model = self.model.g.own.get(columns[-1]), _OWN_DRAWS, self.model
        codes, values = np.repeat(self.codes, k + 1, axis=0), np.repeat(self.values, k + 1, axis=0)
        drawn = np.flatnonzero(np.arange(len(codes)) % (k + 1))  # the first of each chain is its present case
        if own is not None:
            values[drawn[:, np.newaxis], columns] = own.draw(
                model.selection(columns[-1], codes[drawn]), self.rng
            )
        else:
            mean, sd = model.moments(columns[0], codes[drawn], values[drawn])
            values[drawn, columns[0]] = mean + sd * self.rng.standard_normal(len(drawn))
        self._choose(values, self._children_logs(columns, codes, values))
        if own is None or not own.counts:
            self._move_nearby(columns)

    def _move_nearby(self, columns: list[int]) -> None:
        """Choose among proposals around a random centre near by: each is as likely from any other."""
        k, model, chains = _PROPOSALS, self.model, self.chains
        codes, values = np.repeat(self.codes, k + 1, axis=0), np.repeat(self.values, k + 1, axis=0)
        scale = self.widths[columns] * 2.0 ** -self.rng.uniform(0.0, _HALVINGS, (chains, 1))
        if len(columns) > 1:
            scale *= self.rng.random((chains, len(columns))) < 0.5
        centre = self.values[:, columns] + scale * self.rng.standard_normal((chains, len(columns)))
        proposals = centre[:, np.newaxis] + scale[:, np.newaxis] * self.rng.standard_normal(
            (chains, k, len(columns))
        )
        drawn = np.flatnonzero(np.arange(len(codes)) % (k + 1))
        values[drawn[:, np.newaxis], columns] = proposals.reshape(-1, len(columns))
        logs = self._children_logs(columns, codes, values)
        logs += model.density_logs(columns[-1], codes, values)
        self._choose(values, logs)

    def _choose(self, values: np.ndarray, logs: np.ndarray) -> None:
        """Choose one of several values for each chain, with probability proportional to exp(logs)."""
        chains = self.chains
        each = len(values) // chains
        self.values = values[np.arange(chains) * each + self._pick(logs.reshape(chains, each))]

    def _pick(self, logs: np.ndarray) -> np.ndarray:
        """The index of one entry of each row, drawn with probability proportional to exp(logs)."""
        shares = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
        uniforms = self.rng.random((len(logs), 1)) * shares[:, -1:]
        return np.asarray((shares <= uniforms).sum(axis=1).clip(max=logs.shape[1] - 1))

    # --- jumps ---

    def _jump(self) -> None:
        """Move each chain to one of several cases drawn parents first, or stay, by their likelihoods.

        Gates add nothing to the likelihood of the present case: their auxiliary variables have just been
        drawn.
        """
        model, chains = self.model, self.chains
        cases = Cases(model, chains * _ROUND, self.rng).draw(self.above)
        here = np.zeros(chains)
        for v in sorted(model.known):
            x = int(model.g.index_of[v])
            if x in model.intervals and x not in model.g.own:
                mean, sd = model.moments(x, self.codes, self.values)
                here += truncated(mean, sd, *model.intervals[x], np.full(chains, 0.5))[1]
            elif v in model.hard or (x >= 0 and model.seen[x]):
                here += model.logs(v, self.codes, self.values)
            for weights in model.weights.get(v, ()):
                here += np.log(weights)[self.codes[:, v]]
        logs = np.column_stack([here, cases.logs.reshape(chains, _ROUND)])
        chosen = self._pick(logs)
        moved = np.flatnonzero(chosen > 0)
        at = moved * _ROUND + chosen[moved] - 1
        self.codes[moved], self.values[moved] = cases.codes[at], cases.values[at]
