"""Input-output models as Bayesian networks: tables at given inputs, past observations as parents."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.cpds import CPD, LinearGaussian, TableCPD, make, prepared
from pgm.cpds.table_input import check_cells
from pgm.distributions import ByInput
from pgm.errors import InvalidArgument
from pgm.models.bayesian_network import BayesianNetwork
from pgm.variables import REAL, Domain, Variable

from .chain_network import observed
from .inputs import with_past
from .linear_parameters import plural

if TYPE_CHECKING:
    from .input_output_hmm import InputOutputHMM


class _EmissionAt:
    """An emission at given inputs, as a distribution without inputs."""

    def __init__(self, emission: Any, x: np.ndarray) -> None:
        self.emission, self.x = emission, x

    @property
    def domain(self) -> Domain | None:
        """The symbols."""
        found: Domain | None = self.emission.domain
        return found

    def log_rows(self, rows: np.ndarray) -> np.ndarray:
        """Log-probabilities of symbols."""
        return np.asarray(self.emission._log_given(rows, np.repeat(self.x[None], len(rows), axis=0)))

    def normals(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Means and covariances."""
        if isinstance(self.emission, ByInput):
            found: Any = self.emission.parts[int(self.emission._index(self.x[None])[0])].normals()
            return None if found is None else (found[0], found[1])
        return self.emission._means(self.x[None])[0], self.emission.covariance


def network(model: InputOutputHMM, steps: int, inputs: Any, before: Any) -> BayesianNetwork:
    """The Bayesian network of this many steps with these inputs."""
    model._check_parameters()
    if model._width and inputs is None:
        raise InvalidArgument("The model has inputs: inputs= has a row for each step.")
    own = model._columns(model._inputs(inputs, None)) if model._width else np.zeros((steps, 0))
    if len(own) != steps:
        raise InvalidArgument(f"inputs= has {plural(len(own), 'row')} for {plural(steps, 'step')}.")
    first = model._before(before)
    if model.lags and first is None:
        raise InvalidArgument(
            "The model has lags: before= takes what was observed before the first step, most recent first."
        )
    if model.lags and not {"initial", "transition"}.isdisjoint(model._by_inputs):
        raise InvalidArgument(
            "Transitions that depend on past observations cannot be written as a network yet."
        )
    x = with_past(own, model.window, None, 0, None)
    cpds: list[CPD] = []
    for t in range(steps):
        hidden = Variable.of(f"state[{t}]", model.variable.domain)
        if t == 0:
            cpds.append(TableCPD.trusted(hidden, (), model._starts(x[:1])[0]))
        else:
            at = t if model.entering else t - 1
            last = Variable.of(f"state[{t - 1}]", model.variable.domain)
            table = np.array(model._moves(x[at : at + 1])[0])
            cpds.append(TableCPD.trusted(hidden, (last,), table))
        if "emission" not in model._by_inputs:
            cpds += observed(model._emission, (hidden,), str(t))
        elif not model.lags:
            cpds += observed(_EmissionAt(model._emission, x[t]), (hidden,), str(t))
        elif model._emission.domain is not None:
            cpds.append(_symbols(model, hidden, x[t], first, t))
        else:
            cpds += _values(model, hidden, x[t], first, t)
    return BayesianNetwork._from_cpds(model.name, cpds)


def _symbols(model: InputOutputHMM, hidden: Variable, own: np.ndarray, first: Any, t: int) -> CPD:
    """A symbol given the state and past symbols."""
    domain = model._emission.domain
    there = [lag for lag in range(1, model.lags + 1) if lag <= t]
    parents = tuple(Variable.of(f"observation[{t - lag}]", domain) for lag in there)
    shape = (*(domain.card for _ in there), hidden.card, domain.card)
    check_cells(shape, "The table of what is observed", "choose fewer lags")
    table = np.empty(shape)
    for codes in product(range(domain.card), repeat=len(there)):
        past = [np.arange(1, domain.card) == code for code in codes]
        past += [first[lag - 1 - t] for lag in range(len(there) + 1, model.lags + 1)]
        x = np.concatenate([own, *past]).astype(float)
        rows = np.repeat(x[None], domain.card, axis=0)
        table[codes] = np.exp(model._emission._log_given(np.arange(domain.card), rows)).T
    seen = Variable.of(f"observation[{t}]", domain)
    return TableCPD.trusted(seen, (*parents, hidden), table)


def _values(model: InputOutputHMM, hidden: Variable, own: np.ndarray, first: Any, t: int) -> list[CPD]:
    """A density for each value given the state, past values, and the values before it in the step."""
    emission = model._emission
    w, noise = emission._known
    d = emission.dim

    def called(step: int) -> list[str]:
        return [f"observation[{step}]"] if d == 1 else [f"observation[{step},{i}]" for i in range(d)]

    now, width = called(t), own.size
    found = []
    for i in range(d):
        by_state = {}
        for k, state in enumerate(hidden.states):
            within = np.linalg.solve(noise[k][:i, :i], noise[k][:i, i])
            left = noise[k][i, i] - noise[k][i, :i] @ within
            line = w[k, i] - within @ w[k, :i]
            bias = line[-1] + line[:width] @ own
            weights = dict(zip(now[:i], within.tolist(), strict=True))
            for lag in range(1, model.lags + 1):
                some = line[width + (lag - 1) * d : width + lag * d]
                if lag <= t:
                    weights |= dict(zip(called(t - lag), some.tolist(), strict=True))
                else:
                    bias += some @ first[lag - 1 - t]
            by_state[state] = LinearGaussian(weights, bias=float(bias), sd=float(np.sqrt(left)))
        names = list(next(iter(by_state.values())).parents)
        table, listed = prepared(now[i], by_state, [hidden.name])
        there = {hidden.name: hidden, **{name: Variable.of(name, REAL) for name in names}}
        parents = listed if listed is not None else table.parents  # type: ignore[attr-defined]
        found.append(make(now[i], table, None, tuple(there[name] for name in parents)))
    return found


def picture(model: InputOutputHMM) -> BayesianNetwork:
    """What depends on what in two steps, for a drawing: inputs are nodes too."""
    arrows = [("state[0]", "state[1]")]
    for t in range(2):
        arrows.append((f"state[{t}]", f"observation[{t}]"))
        if "emission" in model._by_inputs and model._width:
            arrows.append((f"input[{t}]", f"observation[{t}]"))
    if "transition" in model._by_inputs and model._width:
        arrows.append((f"input[{1 if model.entering else 0}]", "state[1]"))
    if "initial" in model._by_inputs and model._width:
        arrows.append(("input[0]", "state[0]"))
    if model.lags:
        arrows.append(("observation[0]", "observation[1]"))
    return BayesianNetwork(edges=arrows)
