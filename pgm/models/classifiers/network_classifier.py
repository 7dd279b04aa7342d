"""Any Bayesian network as a classifier of one of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from pgm.calls import guard_classes
from pgm.distributions.pseudo_counts import Laplace
from pgm.errors import InvalidArgument, InvalidFrame, UnknownVariable, listed, nearest, shown, warn
from pgm.frames.matrices import Features, features
from pgm.frames.undeclared import Observations
from pgm.models import BayesianNetwork
from pgm.models.learned import learn_structure
from pgm.printing import label
from pgm.runtime.clock import in_one_time
from pgm.variables import Variable

from .families import FamilyClassifier, frame_of, with_integer_states
from .training import Training


class NetworkClassifier(FamilyClassifier):
    """A Bayesian network that predicts one of its variables. Follows scikit-learn's conventions.

    P(class | row) is the posterior of the class in the network; missing cells are summed out, and a node that
    is neither a column nor the class is hidden. `fit` learns the parameters of the given network, or, if none
    is given, the structure too. `NetworkClassifier.of(net, "class")` takes a network as it is.

    Args:
        net: a Bayesian network; `fit` learns the parameters of a copy, which keeps the states and the kinds
            of distributions that it has. Left out: the structure is learned.
        target: the variable that is the class. Left out: the name of `y`, or "class".
        search: how the structure is searched for, as in `pgm.learn_structure`: "tabu", "hill-climb", ...
        structure_score: the score that the search maximises: "bic", "bdeu", ...
        prior: a pseudo-count, added to each count of tables (Laplace's rule with 1, none with 0), or as in
            `BayesianNetwork.fit`.
        latent: hidden variables of `net`, {name: number of states or list of states}.
        states: {column: its states, or pgm.Bins}, for columns whose states are not to be read off the data.
        continuous: columns to treat as continuous although their values could be states, as whole floats.
        bins: how continuous columns are cut where the structure is learned: "mdlp" (where classes change),
            "quantile", "width" or "k-means" (four states each), how many quantiles, or None: not at all.
        seed: of the random parts of the search, and of the starting point of EM.
        unknown: what to do with a value that is not a state: "raise", or take it as "missing".

    After `fit` there are `classes_`, `class_prior_` (of the rows), `network_`, `n_features_in_` and, for a
    data frame, `feature_names_in_`.

    >>> import pgm
    >>> net = pgm.BayesianNetwork(edges="rain -> wet <- sprinkler")
    >>> rows = {"sprinkler": [0, 0, 1, 1], "wet": [0, 1, 1, 1], "rain": ["no", "yes", "no", "yes"]}
    >>> model = NetworkClassifier(net, "rain").fit(rows)
    >>> model.predict({"wet": [1, 0], "sprinkler": [0, 0]}).tolist()
    ['yes', 'no']
    """

    network_: BayesianNetwork
    class_prior = None
    _order: np.ndarray  # the indices of `classes_` among the states of the class
    _coded: BayesianNetwork | None

    def __init__(
        self,
        net: BayesianNetwork | None = None,
        target: str | None = None,
        *,
        search: Any = "tabu",
        structure_score: Any = None,
        prior: Any = 1.0,
        latent: Any = None,
        states: Any = None,
        continuous: Any = (),
        bins: Any = "mdlp",
        seed: int | np.random.Generator | None = None,
        unknown: str = "raise",
    ) -> None:
        self.net, self.target, self.search = net, target, search
        self.structure_score, self.prior = structure_score, prior
        self.latent, self.states, self.continuous, self.bins = latent, states, continuous, bins
        self.seed, self.unknown = seed, unknown

    @classmethod
    def of(cls, net: BayesianNetwork, target: str, *, columns: Any = None, unknown: str = "raise") -> Self:
        """Return a classifier that is this network as it is; nothing is learned.

        Args:
            net: a Bayesian network with all its parameters.
            target: the variable that is the class.
            columns: the variables that the columns of an array hold, in order; left out: all variables but
                the target, in the order of the network.
            unknown: as for the constructor.

        Raises:
            UnknownVariable: the network has no such variable.
            InvalidArgument: this is not a network, or the target has no states.
            IncompleteModel: the network lacks parameters.

        >>> import pgm
        >>> model = NetworkClassifier.of(pgm.load_network("asia"), "lung")
        >>> model.predict_proba({"smoke": ["yes", "no"], "xray": ["yes", None]}).round(6).tolist()
        [[0.354009, 0.645991], [0.99, 0.01]]
        """
        made = cls(net, target, unknown=unknown)
        _check(net, target)
        net._check_complete()
        names = [name for name in net.nodes if name != target] if columns is None else list(columns)
        for name in names:
            if name not in net or name == target:
                raise UnknownVariable(name, [each for each in net.nodes if each != target], where="columns=")
        prior = net.query(target).values
        vars(made).update(made._of(net.copy(), target), class_prior_=prior)
        made._variables = {name: net.variables[name] for name in names}
        made.class_prior_ = np.asarray(prior)[made._order]
        made.n_features_in_, made._named = len(names), True
        made.feature_names_in_ = np.array(names, dtype=object)
        made._ranges = {n: _range(net, n) for n in names if net.variables[n].continuous}
        return made

    @in_one_time
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows whose classes are known; returns the classifier itself.

        Args:
            X: a data frame, a dict of columns, or an array of rows, whose columns are those of `net` in their
                order, without the class and what is hidden.
            y: the class of each row, None where it is unknown; or the name of the column of X that has it.
                May be left out where X has a column `target`.
            sample_weight: how much each row counts; 1 if left out.

        Raises:
            InvalidFrame: no rows, a column that is missing or without a value.
            InvalidArgument: there are not as many classes as rows, or only one; an option is out of range.
            UnknownState, UnknownVariable: what was declared does not fit the columns.

        >>> import pgm
        >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "odd": [False, True, True, False] * 9}
        >>> model = NetworkClassifier(target="odd", structure_score="k2").fit(rows)
        >>> model.predict({"a": [1], "b": [0]}).tolist()
        [True]
        """
        if self.net is not None:
            if not isinstance(self.target, str):
                raise InvalidArgument('target= names the class among the variables of net=, target="class".')
            _check(self.net, self.target)
        if y is None and isinstance(self.target, str) and self.target in features(X).names:
            y = self.target
        return super().fit(X, y, sample_weight)

    def _hidden(self) -> list[str]:
        latent = self.latent
        if latent is None:
            return []
        return [latent] if isinstance(latent, str) else list(latent)

    def _renamed(self, given: Features) -> Features:
        if given.named or self.net is None:
            return given
        hidden = self._hidden()
        names = [name for name in self.net.nodes if name != self.target and name not in hidden]
        if len(names) != len(given.names):
            raise InvalidFrame(
                f"The rows have {len(given.names)} columns, but the network has {len(names)} variables "
                f"besides the class and what is hidden: {listed(names)}. Pass a data frame, or these columns "
                "in this order."
            )
        columns = dict(zip(names, given.frame.values(), strict=True))
        return Features(tuple(names), False, columns, given.whole)

    def _called(self, name: str) -> str:
        return name if self.target is None else self.target

    def _declared(self, given: Features) -> tuple[dict[str, Any], Iterable[str]]:
        states, real = super()._declared(given)
        real = list(real)
        if self.net is not None:
            for name in given.names:
                domain = self.net._domains.get(name)
                if domain is None and name in self.net._pending:
                    domain = self.net._pending[name][1]
                if domain is None:
                    continue
                if name in states or name in real:
                    raise InvalidArgument(
                        f"{name!r} has states in the network already: leave it out of states=."
                    )
                if Variable.of(name, domain).continuous:
                    real.append(name)
                else:
                    states[name] = domain.bins if domain.bins is not None else list(domain.states)
        return states, real

    def _learn_in_part(self, data: Training) -> dict[str, Any]:
        return self._learn(data)

    def _learn(self, data: Training) -> dict[str, Any]:
        target = data.target.name
        weights = None if (data.weights == 1.0).all() else data.weights
        prior = self.prior
        if isinstance(prior, int | float | np.number) and not isinstance(prior, bool):
            prior = {...: Laplace(self._belief())} if self._belief() > 0.0 else None
        if self.net is None:
            if self.latent is not None:
                raise InvalidArgument("latent= has no effect without net=: it names hidden nodes of net.")
            if self.bins is not None:
                data = self._in_states(data)
            frame = _labels(data) | {target: data.labels}
            declared = {name: _as_declared(v) for name, v in data.variables.items() if not v.continuous}
            real = [name for name, v in data.variables.items() if v.continuous]
            whole, counted = _complete(data, frame), weights
            if whole is not None:
                frame = {name: column[whole] for name, column in frame.items()}
                counted = None if weights is None else weights[whole]
            found = learn_structure(
                frame, score=self.structure_score, search=self.search, weights=counted, seed=self.seed,
                states=declared | {target: list(range(data.target.card))}, continuous=real,
            )  # fmt: skip
            net = BayesianNetwork(edges=found.network.edges)
            order = [target, *data.variables]
            net = _with_states(net, {**data.variables, target: data.target}, order)
        else:
            net = self.net.copy()
        learned = _labels(data) | {target: _stated(data.target, data.labels)}
        kept = {name: column for name, column in learned.items() if name in net}
        if not any(name in net for name in data.variables):
            there = ", ".join(map(repr, list(data.variables)[:5]))
            raise InvalidFrame(
                f"No column of the rows is a variable of the network: {there}."
                f"{nearest(next(iter(data.variables)), net.nodes)}"
            )
        if isinstance(prior, Mapping) and isinstance(prior.get(...), Laplace):
            prior = _of_tables(net, kept, prior)
        declared = {
            name: _as_declared(v)
            for name, v in data.variables.items()
            if name in net and net._domains[name] is None and not v.continuous
        }
        if net._domains[target] is None:
            declared[target] = list(data.target.states)
        real = [n for n, v in data.variables.items() if n in net and net._domains[n] is None and v.continuous]
        seed = self.seed if self.latent is not None else None
        net.fit(
            kept, prior=prior, weights=weights, latent=self.latent, states=declared or None,
            continuous=real or None, seed=seed,
        )  # fmt: skip
        about = self._of(net, target)
        about["_variables"] = {name: v for name, v in data.variables.items() if name in net}
        if self.net is None:
            about["_variables"] = data.variables
        about["n_features_in_"] = len(data.variables)
        about["fit_report_"] = net.fit_report
        if len(about["_target"].states) == data.target.card:
            return about
        shares = dict(zip(data.target.states, data.class_prior.tolist(), strict=True))
        about["class_prior_"] = np.array([shares.get(state, 0.0) for state in about["_target"].states])
        return about

    def _of(self, net: BayesianNetwork, target: str) -> dict[str, Any]:
        """The attributes of a classifier that asks this network."""
        states = net.variables[target].states
        plain = np.array(states)
        order = np.arange(len(states))
        if plain.ndim == 1 and plain.tolist() == list(states) and plain.dtype.kind != "O":
            order = np.argsort(plain, kind="stable")
            classes = plain[order]
        else:
            classes = np.empty(len(states), dtype=object)
            classes[:] = states
        return {
            "network_": net,
            "classes_": classes,
            "_target": Variable(target, [states[i] for i in order.tolist()]),
            "_order": order,
            "_coded": with_integer_states(net),
        }

    # --- questions ---

    def _frame(self, seen: Observations) -> tuple[BayesianNetwork, dict[str, Any]]:
        """The network that is asked, and the rows as it reads them."""
        codes = {name: column for name, column in seen.codes.items() if name in self.network_}
        values = {name: x for name, x in seen.values.items() if name in self.network_}
        if self._coded is None:
            labels = {name: _stated(self.network_.variables[name], column) for name, column in codes.items()}
            return self.network_, labels | values
        frame = frame_of(codes, values)
        if not frame:
            first = next(name for name in self.network_.nodes if name != self._target.name)
            frame[first] = np.full(seen.n_rows, np.nan)
        return self._coded, frame

    def _log_shares(self, seen: Observations) -> np.ndarray:
        net, frame = self._frame(seen)
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(net.predict_proba(frame, self._target.name)))
        return np.asarray(logs[:, self._order])

    def _log_joint(self, seen: Observations) -> np.ndarray:
        net, frame = self._frame(seen)
        return np.asarray(self._log_shares(seen) + net.log_likelihood(frame)[:, None])

    def _network(self) -> BayesianNetwork:
        return self.network_

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        if not hasattr(self, "classes_"):
            return [self._begun()], [], "not fitted yet"
        rows = [
            [label(name), ", ".join(map(label, self.network_.parents(name))) or "-"]
            for name in self.network_.nodes
        ]
        return ["variable", "parents"], rows, (
            f"NetworkClassifier of {label(self._target.name)!r}: {self._said_shares()}"
        )  # fmt: skip


def _check(net: Any, target: Any) -> None:
    if not isinstance(net, BayesianNetwork):
        raise InvalidArgument(f"net= is a pgm.BayesianNetwork, not {shown(net)}.")
    if not isinstance(target, str) or target not in net:
        raise UnknownVariable(target, net.nodes, where="target=")
    domain = net._domains[target]
    if domain is not None and Variable.of(target, domain).continuous:
        raise InvalidArgument(f"target={target!r} is continuous: a class has states.")


def _as_declared(variable: Variable) -> Any:
    return variable.bins if variable.bins is not None else list(variable.states)


def _stated(variable: Variable, codes: np.ndarray) -> np.ndarray:
    """The states of codes, None where missing."""
    if (codes >= 0).all():
        return np.asarray(variable.domain.array[codes])
    states = np.empty(variable.card + 1, dtype=object)
    states[:-1] = variable.states
    return np.asarray(states[codes])  # -1 is the last: None


def _labels(data: Training) -> dict[str, Any]:
    """The columns with their states, as a frame has them."""
    return {
        name: data.values[name] if name in data.values else _stated(v, data.codes[name])
        for name, v in data.variables.items()
    }


def _complete(data: Training, frame: Mapping[str, Any]) -> np.ndarray | None:
    """Which rows have no gaps, the only ones that a search can use; None if all are so."""
    gaps = data.labels < 0
    for column in data.codes.values():
        gaps |= column < 0
    for values in data.values.values():
        gaps |= np.isnan(values)
    if not gaps.any():
        return None
    if gaps.all():
        raise InvalidFrame("Every row has a gap, and the structure is learned from rows without: pass net=.")
    warn(
        f"The structure was learned from the {int((~gaps).sum()):,} rows without gaps, of {len(gaps):,}; the "
        "parameters come from all rows."
    )
    return ~gaps


def _with_states(
    net: BayesianNetwork, variables: Mapping[str, Variable], order: list[str]
) -> BayesianNetwork:
    """The same arrows, with all variables as nodes in this order, isolated ones too."""
    made = BayesianNetwork("searched for")
    for name in order:
        made._parents[name] = ()
        made._domains[name] = variables[name].domain
    for name in net.nodes:
        made._parents[name] = net.parents(name)
    return made


def _of_tables(net: BayesianNetwork, frame: Mapping[str, Any], prior: Mapping[Any, Any]) -> Any:
    """The prior for the nodes that will have tables; None if none will."""
    named = {}
    for name in net.nodes:
        cpd = net._cpds.get(name)
        domain = net._domains[name]
        real = Variable.of(name, domain).continuous if domain is not None else None
        if real is None:
            column = frame.get(name)
            real = isinstance(column, np.ndarray) and column.dtype.kind == "f"
        if (cpd is None and not real) or (cpd is not None and cpd.tabular):
            named[name] = prior[...]
    return named or None


def _range(net: BayesianNetwork, name: str) -> tuple[float, float]:
    """Mean ± 3 sd of a continuous variable, which is what a picture shows of it."""
    density = net.query(name)
    mean, sd = float(np.ravel(density.mean)[0]), float(np.sqrt(np.ravel(density.variance)[0]))
    return mean - 3.0 * sd, mean + 3.0 * sd


guard_classes([NetworkClassifier])
