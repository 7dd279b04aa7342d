"""Continuous variables with any density given discrete parents: from scikit-learn, scipy or pgm."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from pgm.distributions.parts import Part
from pgm.errors import IncompleteModel, InvalidArgument, InvalidFrame, InvalidTable, listed, shown
from pgm.factors import OwnDensity
from pgm.frames import columns, real_columns
from pgm.randomness import draw_count, generator
from pgm.variables import REAL, Continuous, Variable, as_float

from .base import CPD, ROWS_SHOWN, as_it_is, set_fields
from .complete_rows import codes_of_row
from .density_moments import moments_of
from .estimator_traits import alike
from .given_densities import checked, draws_of, form_of, is_fitted, learned_density, logs_of
from .statistics import Codes, Configurations
from .table_input import Array, BadRow, check_cells, find_row, row_label

_REMEDY = "Leave such rows out"


class DensityCPD(CPD):
    """p(x | states) with any density for each state, of one continuous variable or of several as a block.

    A density is an object with `score_samples` (scikit-learn's KernelDensity and GaussianMixture, those of
    pgm.adapters), a frozen scipy distribution, or a distribution of pgm such as pgm.StudentT. Several
    variables with a joint density are added together, `net.add(["x", "y"], ...)`, and are observed all
    together or not at all.

    If the variables are observed, exact inference uses their likelihood for each state. If they are hidden,
    their mean and covariance are exact where the densities have them in closed form and no descendant is
    observed; otherwise they can be sampled. Their density at a value can always be asked for.

    Objects with `score_samples` and `fit` need not be fitted: `net.fit` fits a clone for each state, and one
    such object may be given for all states.

    Args:
        densities: {state: density}; with several parents keys are tuples, and `...` stands for all other
            rows; or one density if there are no parents.

    Raises:
        InvalidTable: an entry is not a density; or, when it is added to a network, a density is not fitted,
            fails, or has a different number of columns.

    >>> import pgm
    >>> from scipy import stats
    >>> net = pgm.BayesianNetwork()
    >>> net.add("fault", 0.1)
    >>> net.add("wear", pgm.DensityCPD({True: stats.gamma(5.0), False: stats.gamma(2.0)}), parents=["fault"])
    >>> round(net.query("fault", {"wear": 6.0})[True], 6)
    0.5
    """

    __slots__ = ("_columns", "_densities", "_of", "_parents", "_rows", "_whole")
    kind, label, continuous, takes_continuous = "density", "density", True, True
    rowwise: ClassVar[bool] = True

    _parents: tuple[str, ...]  # the discrete ones, then the other variables of the block
    _columns: int  # how many of them are variables of the block
    _rows: dict[Any, Any] | None  # as written, until the states are known
    _densities: tuple[Any, ...]  # the distinct ones
    _of: tuple[int, ...]  # for each configuration of the discrete parents the index of its density
    _whole: bool  # whether the child is the last variable of its block, which has the density

    def __init__(self, densities: Any) -> None:
        rows: dict[Any, Any] = {}
        if isinstance(densities, Mapping):
            if not densities:
                raise InvalidTable("pgm.DensityCPD takes a dict {state: density}, and this one is empty.")
            for key, density in densities.items():
                label = "all other rows" if key is ... else f"row {shown(key)}"
                rows[key] = checked("pgm.DensityCPD, ", label, density)
        else:
            rows[()] = checked("pgm.DensityCPD", "", densities)
        forms = [form_of(density) for density in rows.values()]
        if len({form.mass for form in forms if form is not None}) > 1:
            raise InvalidTable(
                "pgm.DensityCPD: some of these are densities and others probabilities of whole numbers, "
                "which cannot be compared. Give all of one kind."
            )
        self._fill(None, (), (), 0, rows, (), (), True)

    def _fill(
        self,
        child: Variable | None,
        given: tuple[Variable, ...],
        parents: tuple[str, ...],
        n_columns: int,
        rows: dict[Any, Any] | None,
        densities: tuple[Any, ...],
        of: tuple[int, ...],
        whole: bool,
    ) -> None:
        set_fields(self, _child=child, _given=given, _parents=parents, _columns=n_columns, _rows=rows)
        set_fields(self, _densities=densities, _of=of, _whole=whole)

    def selected_by(self, parents: Sequence[str], n_columns: int = 0, *, whole: bool = True) -> DensityCPD:
        """Return a copy with these parents, the last `n_columns` of which are variables of its block.

        Args:
            parents: the names, in the order of the keys.
            n_columns: how many of them are variables of the block.
            whole: whether it is for the last variable of the block; the others have no density of their own.

        Raises:
            InvalidTable: it belongs to a network already.

        >>> from scipy import stats
        >>> DensityCPD({"a": stats.norm(), "b": stats.norm(1.0)}).selected_by(["c"]).parents
        ('c',)
        """
        if self._rows is None:
            raise InvalidTable(f"{self.child.name!r}: this density belongs to a network already.")
        made = self.__new__(type(self))
        made._fill(None, (), tuple(parents), n_columns, self._rows, (), (), whole)
        return made

    def among(self, parents: Any, old: object = None) -> DensityCPD:
        """Return a copy with the parents named where it is added, or with those of what it replaces.

        Args:
            parents: as the user wrote them.
            old: the distribution that the node has so far.

        Raises:
            InvalidTable: it replaces a variable of a block other than the last.

        >>> from scipy import stats
        >>> DensityCPD({"a": stats.norm(), "b": stats.norm(1.0)}).among("c").parents
        ('c',)
        """
        if self._rows is None or self._parents or not self._whole:
            return self
        if isinstance(old, DensityCPD) and old._columns:
            if not old._whole:
                raise InvalidTable(
                    f"{old.child.name!r} is one variable of a block: the density of all of it belongs "
                    "to the last."
                )
            return self.selected_by(old._parents, old._columns)
        those = (parents,) if isinstance(parents, str) else parents
        named = isinstance(those, list | tuple) and all(isinstance(parent, str) for parent in those)
        return self.selected_by(those) if named else self  # the network refuses what is not a name

    # --- what it is ---

    @property
    def parents(self) -> tuple[str, ...]:
        """The names of the parents: the discrete ones, then the other variables of its block."""
        return self._parents

    @property
    def block(self) -> tuple[str, ...]:
        """The variables of the block up to the child; the child alone if there is no block."""
        return (*self._parents[len(self._parents) - self._columns :], self.child.name)

    @property
    def switches(self) -> tuple[Variable, ...]:
        """The discrete parents, which select the density."""
        return self.given[: len(self.given) - self._columns]

    def bind(self, name: str, states: Any, given: tuple[Variable, ...]) -> DensityCPD:
        """Return this for the child `name`: discrete parents select, others are variables of its block."""
        if states is not None and not isinstance(states, Continuous):
            raise InvalidTable(
                f"{name!r}: a density is of continuous variables, which have no states; leave out states=."
            )
        by_name = {v.name: v for v in given}
        ordered = tuple([by_name[parent] for parent in self._parents])
        switches = [v for v in ordered if not v.continuous]
        block = [v for v in ordered if v.continuous]
        if len(block) != self._columns:
            raise InvalidTable(
                f"{name!r}: a density is selected by states, and {listed([v.name for v in block])} has none. "
                "Continuous variables with a joint density are added together, net.add([name, name], ...); "
                "cut a continuous variable into states with pgm.Bins."
            )
        child = Variable(name, REAL)
        densities, of = self._densities, self._of
        if self._rows is not None:
            densities, of = self._chosen(name, switches, len(block) + 1)
        made = self.__new__(type(self))
        parents = tuple([v.name for v in (*switches, *block)])
        made._fill(child, (*switches, *block), parents, len(block), None, densities, of, self._whole)
        return made

    def _chosen(
        self, name: str, switches: Sequence[Variable], width: int
    ) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """The distinct densities, and the index of the one that each row has, in the order of the states."""
        assert self._rows is not None
        cards = [v.card for v in switches]
        check_cells(cards, f"{name!r}: its rows", "give it fewer parents")
        keys = list(self._rows)
        if not switches and keys != [()]:
            raise InvalidTable(
                f"{name!r}: a dict of densities needs parents=[...], whose states are its keys: "
                f"{listed(keys)}."
            )
        chosen = [keys.index(...) if ... in self._rows else -1] * math.prod(cards)
        written: dict[tuple[int, ...], object] = {}
        for i, key in enumerate(keys):
            if key is ...:
                continue
            if key == () and switches:
                if not is_fitted(self._rows[key]):  # `fit` fits a clone of it for each row
                    chosen = [i] * math.prod(cards)
                    break
                raise InvalidTable(
                    f"{name!r}: one density for all states of {listed([v.name for v in switches])}; give a "
                    "dict with one for each, or leave out parents=."
                )
            try:
                codes = find_row(switches, key) if switches else ()
            except BadRow as bad:
                raise InvalidTable(f"{name!r}, row {shown(key)}: {bad}") from None
            if codes in written:
                raise InvalidTable(f"{name!r}: {shown(written[codes])} and {shown(key)} mean the same row.")
            written[codes] = key
            chosen[int(np.ravel_multi_index(codes, cards)) if cards else 0] = i
        if -1 in chosen:
            codes = tuple(int(code) for code in np.unravel_index(chosen.index(-1), cards))
            raise InvalidTable(
                f"{name!r}: there is no density for {row_label(switches, codes)}; the key `...` stands for "
                "all rows left out."
            )
        densities = tuple(self._rows.values())
        if self._whole:
            for key, density in self._rows.items():  # this fails if a density has other columns
                if not is_fitted(density):
                    continue
                where = "" if key == () else ", all other rows" if key is ... else f", row {shown(key)}"
                logs_of(repr(name), where, density, np.zeros((2, width)))
        return densities, tuple(chosen)

    def log_density(self, rows: Array) -> Array:
        """Return the log density of rows of the block, a column for each configuration of discrete parents.

        Args:
            rows: values of the block's variables, shape (rows, variables).

        Raises:
            InvalidTable: a density fails, or returns something that is not a log density.

        >>> from scipy import stats
        >>> x = DensityCPD(stats.norm()).bind("x", None, ())
        >>> x.log_density(np.zeros((1, 1))).round(6).tolist()
        [[-0.918939]]
        """
        used = self._used()
        each = {i: logs_of(repr(self.child.name), self._where(i), self._densities[i], rows) for i in used}
        return np.column_stack([each[i] for i in self._of]) if len(rows) else np.empty((0, len(self._of)))

    def _used(self) -> list[int]:
        """The indices of the densities that rows have; an error if one is not fitted."""
        used = sorted(set(self._of))
        for i in used:
            if not is_fitted(self._densities[i]):
                kind = type(self._densities[i]).__name__
                raise IncompleteModel(
                    f"{self.child.name!r}: its {kind} is not fitted yet. Fit it before it is added, or call "
                    f"`fit` of the network with a frame that has "
                    f"{listed([*[v.name for v in self.switches], *self.block])}."
                )
        return used

    def _where(self, density: int) -> str:
        """Which row has this density, for messages."""
        if not self.switches:
            return ""
        codes = np.unravel_index(self._of.index(density), [v.card for v in self.switches])
        return f", row {row_label(self.switches, [int(code) for code in codes])}"

    def _drawn(self, selections: Codes, rng: np.random.Generator) -> Array:
        """Draw values of the block, a row for each of these configurations."""
        self._used()
        found = np.empty((len(selections), self._columns + 1))
        which = np.array(self._of)[selections]
        for i in np.unique(which).tolist():
            at = np.flatnonzero(which == i)
            density, where = self._densities[i], self._where(i)
            found[at] = draws_of(repr(self.child.name), where, density, len(at), self._columns + 1, rng)
        return found

    def _moments(self) -> tuple[Array, Array]:
        """The mean and the covariance of the block, for each configuration of discrete parents."""
        name, width = repr(self.child.name), self._columns + 1
        each = {i: moments_of(name, self._where(i), self._densities[i], width) for i in self._used()}
        means, covariances = zip(*[each[i] for i in self._of], strict=True)
        return np.array(means), np.array(covariances)

    def factor(self, scope: Sequence[int]) -> OwnDensity:
        """Return the density as inference takes it; `scope`: positions of the parents, then the child's."""
        positions = np.array(scope, dtype=np.int64)
        forms = [form_of(density) for density in self._densities]
        counts = any(form is not None and form.mass for form in forms)
        how = self.log_density, self._drawn, self._moments, counts
        return OwnDensity.of(positions, len(self.switches), len(self._of), self._whole, *how)

    def rows(self, codes: Codes) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        raise InvalidTable(
            f"{self.child.name!r} is continuous: its density is not a table; see .probability(row) and "
            ".to_dict()."
        )

    def table(self, limit: int | None = None) -> NoReturn:
        """Refuse: a continuous variable has no table."""
        self.rows(np.empty((0, 0), np.int64))

    def probability(self, row: Mapping[str, Any]) -> float:
        """Return the density of one row: a state for each parent, a value for the child and its block.

        >>> from scipy import stats
        >>> x = DensityCPD(stats.norm()).bind("x", None, ())
        >>> round(x.probability({"x": 0.0}), 6)
        0.398942
        """
        self._needs_whole()
        codes_of_row((*self.given, self.child), row)
        selection = self._selection(codes_of_row(self.switches, {v.name: row[v.name] for v in self.switches}))
        values = np.array([[as_float(row[name]) for name in self.block]])
        return float(np.exp(self.log_density(values)[0, selection]))

    def _selection(self, codes: Any) -> Any:
        cards = [v.card for v in self.switches]
        return np.ravel_multi_index(tuple(codes), cards) if cards else 0

    def _needs_whole(self) -> None:
        if not self._whole:
            raise InvalidTable(
                f"{self.child.name!r} is one variable of a block, and the density is that of the whole "
                "block: ask its last variable."
            )

    def sample(
        self, given: Any = None, *, n: int | None = None, seed: int | np.random.Generator | None = None
    ) -> Array:
        """Draw values: `n` for one row of the parents, or one for each row of a frame; rows for a block.

        >>> from scipy import stats
        >>> DensityCPD(stats.randint(2, 3)).bind("x", None, ()).sample(n=2, seed=0)
        array([2., 2.])
        """
        self._needs_whole()
        one = n is not None or not self.switches
        if one:
            codes = codes_of_row(self.switches, {} if given is None else given)
            rows = np.full(draw_count(1 if n is None else n), self._selection(codes))
        else:
            found = columns(given, {v.name: v for v in self.switches}, remedy=_REMEDY).codes
            for v in self.switches:
                if v.name not in found or (found[v.name] < 0).any():
                    raise InvalidFrame(
                        f"{self.child.name!r}: every row needs a value of its parent {v.name!r}."
                    )
            rows = self._selection([found[v.name] for v in self.switches])
        drawn = self._drawn(np.asarray(rows), generator(seed))
        return drawn[:, 0] if not self._columns else drawn

    def renamed(self, child: Variable, given: tuple[Variable, ...]) -> Self:
        """Return the same density for variables that differ only in their names."""
        made = self.__new__(type(self))
        names = tuple([v.name for v in given])
        made._fill(child, given, names, self._columns, None, self._densities, self._of, self._whole)
        return made

    # --- learning ---

    @property
    def is_fitted(self) -> bool:
        """Whether all its densities are fitted."""
        return all(is_fitted(self._densities[i]) for i in set(self._of))

    def statistics(self, data: Any, weights: Any = None) -> Configurations:
        """Return the rows themselves: a density has no smaller sufficient statistics.

        Args:
            data: columns of the child, its block and all parents, without gaps.
            weights: one for each row.

        Raises:
            InvalidFrame, UnknownState: a column is missing or has gaps, or a value is not a state.
            InvalidArgument: weights are negative or of the wrong length.

        >>> from scipy import stats
        >>> x = DensityCPD(stats.norm()).bind("x", None, ())
        >>> x.statistics({"x": [0.5, 1.0]}).rows.tolist()
        [[0.5], [1.0]]
        """
        if isinstance(data, Configurations):
            return data
        states = columns(data, {v.name: v for v in self.switches}, remedy=_REMEDY)
        values = real_columns(data, {name: Variable(name, REAL) for name in self.block}, remedy=_REMEDY)
        found: dict[str, Any] = {**states.codes, **values.values}
        for name in (*self.parents, self.child.name):
            if (
                name not in found
                or np.isnan(found[name]).any()
                or (name in states.codes and found[name].min() < 0)
            ):
                raise InvalidFrame(f"{self.child.name!r}: every row needs a value of {name!r}.")
        n = len(found[self.child.name])
        shares = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (n,) or not (shares >= 0.0).all():
            raise InvalidArgument(
                f"{self.child.name!r}: a weight of at least 0 for each of {n:,} rows is expected."
            )
        rows = np.column_stack([found[name] for name in (*self.parents, self.child.name)])
        return Configurations.of(rows.astype(np.float64), shares, None)

    def gathered(self, codes: Codes, values: Array, weights: Array) -> Configurations:
        """Return the rows themselves.

        >>> from scipy import stats
        >>> x = DensityCPD(stats.norm()).bind("x", None, ())
        >>> x.gathered(np.empty((2, 0), np.int64), np.array([[0.5], [1.0]]), np.ones(2)).rows.tolist()
        [[0.5], [1.0]]
        """
        return Configurations.of(np.column_stack([codes, values]), weights, None)

    def expected_log(self, statistics: Any) -> float:
        """Return the log-likelihood of these rows; that of a block is counted for its last variable.

        >>> from scipy import stats
        >>> x = DensityCPD(stats.norm()).bind("x", None, ())
        >>> round(x.expected_log(x.statistics({"x": [0.0]})), 6)
        -0.918939
        """
        found = self._checked_statistics(statistics, Configurations)
        if not self._whole:
            return 0.0
        k = len(self.switches)
        logs = self.log_density(found.rows[:, k:])
        selection = np.broadcast_to(self._selection(found.rows[:, :k].astype(np.int64).T), len(found.rows))
        return float(found.weights @ logs[np.arange(len(found.rows)), selection])

    def check_learnable(self) -> None:
        """Refuse densities without a method `fit`, such as those of scipy."""
        if not self._whole:
            return
        for i in sorted(set(self._of)):
            if not hasattr(self._densities[i], "score_samples") or not hasattr(self._densities[i], "fit"):
                kind = type(self._densities[i]).__name__
                raise InvalidArgument(
                    f"{self.child.name!r}{self._where(i)}: its {kind} has no `fit` that the network could "
                    "call, as scikit-learn's densities and those of pgm.adapters have: keep its densities, "
                    f"fixed={list(self.block)!r}."
                )

    def _fitted(self, statistics: Any) -> Self:
        """Fit a clone of the density for each configuration of the discrete parents to the rows with it."""
        if not self._whole:
            return self
        self.check_learnable()
        found = self._checked_statistics(statistics, Configurations)
        k, name = len(self.switches), repr(self.child.name)
        selection = np.broadcast_to(self._selection(found.rows[:, :k].astype(np.int64).T), len(found.rows))
        learned = []
        for i, density in enumerate(self._of):
            codes = np.unravel_index(i, [v.card for v in self.switches]) if k else ()
            where = f", row {row_label(self.switches, [int(code) for code in codes])}" if k else ""
            here = (selection == i) & (found.weights > 0.0)
            rows, weights = found.rows[here, k:], found.weights[here]
            learned.append(learned_density(name, where, self._densities[density], rows, weights))
        made = self.__new__(type(self))
        of = tuple(range(len(learned)))
        made._fill(
            self.child, self.given, self._parents, self._columns, None, tuple(learned), of, self._whole
        )
        return made

    # --- as a value ---

    def to_parts(self, state: Callable[[Any, str], Any] = as_it_is) -> NoReturn:
        """Refuse: densities are Python objects, which no file format holds."""
        kinds = sorted({type(density).__name__ for density in self._densities})
        raise InvalidTable(
            f"{self.child.name!r} has a pgm.DensityCPD of {listed(kinds)}, objects of Python that no file "
            "format holds. Keep the network with pickle."
        )

    @classmethod
    def from_parts(cls, child: Variable, given: tuple[Variable, ...], part: Part) -> NoReturn:
        """Refuse: no file format holds one."""
        part.fail("no file format holds a density made of Python objects")

    @property
    def n_parameters(self) -> int:
        """Zero: the number of parameters of a density is unknown."""
        return 0

    def to_dict(self) -> dict[Any, Any]:
        """Return {parent states: density}, keys in tuples unless there is one parent; or {"density": it}."""
        if not self.switches:
            return {"density": self._densities[self._of[0]]}
        keys = [
            tuple([v.states[i] for v, i in zip(self.switches, at, strict=True)])
            for at in np.ndindex(*[v.card for v in self.switches])
        ]
        return {
            (key if len(key) > 1 else key[0]): self._densities[i]
            for key, i in zip(keys, self._of, strict=True)
        }

    def __eq__(self, other: object) -> bool:
        """Tell whether variables and densities are equal."""
        if not isinstance(other, DensityCPD):
            return NotImplemented
        if (self._child, self._parents, self._whole) != (other._child, other._parents, other._whole):
            return False
        mine, theirs = self._listed(), other._listed()
        return mine.keys() == theirs.keys() and all(alike(mine[key], theirs[key]) for key in mine)

    __hash__ = None  # type: ignore[assignment]

    def _listed(self) -> dict[Any, Any]:
        return dict(enumerate(self._densities[i] for i in self._of)) if self._rows is None else self._rows

    def __repr__(self) -> str:
        if self._child is not None:
            return super().__repr__()
        return f"DensityCPD({shown(self._rows[()] if list(self._rows or ()) == [()] else self._rows)})"  # type: ignore[index]

    def _title(self) -> str:
        given = f" | {', '.join(v.name for v in self.switches)}" if self.switches else ""
        return f"p({', '.join(self.block)}{given})"

    def _lines(self) -> tuple[Sequence[object], Sequence[Sequence[object]], int]:
        rows = []
        for i in range(min(len(self._of), ROWS_SHOWN)):
            codes = np.unravel_index(i, [v.card for v in self.switches]) if self.switches else ()
            states = [v.states[int(code)] for v, code in zip(self.switches, codes, strict=True)]
            said = _called(self._densities[self._of[i]]) if self._whole else "with the last of its block"
            rows.append([*states, said])
        return [*[v.name for v in self.switches], "density"], rows, len(self._of)


def _called(density: Any) -> str:
    """How a density is printed: the repr of a frozen scipy distribution says nothing useful."""
    dist = getattr(density, "dist", None)
    if dist is not None and hasattr(dist, "name"):
        args = [f"{a:g}" if isinstance(a, int | float) else shown(a) for a in getattr(density, "args", ())]
        args += [f"{k}={shown(v)}" for k, v in getattr(density, "kwds", {}).items()]
        return f"{dist.name}({', '.join(args)})"
    text = " ".join(repr(density).split())
    return type(density).__name__ if text.startswith("<") else text if len(text) <= 60 else f"{text[:57]}..."


def added_as_block(names: Sequence[str], density: DensityCPD, parents: Sequence[str]) -> list[DensityCPD]:
    """Return the distributions of the variables of a block, in their order: the last has the density.

    Args:
        names: the variables, in the order of the density's columns.
        density: their joint density for each configuration of the discrete parents.
        parents: the names of the discrete parents.

    >>> from scipy import stats
    >>> both = added_as_block(["x", "y"], DensityCPD(stats.multivariate_normal([0.0, 0.0])), [])
    >>> [one.parents for one in both]
    [(), ('x',)]
    """
    last = len(names) - 1
    return [density.selected_by([*parents, *names[:i]], i, whole=i == last) for i in range(len(names))]
