"""What can be asked of a model, in the user's names; written once for every kind of model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pgm.errors import (
    InvalidArgument,
    listed,
)
from pgm.evidence import names as names_of
from pgm.evidence import observe
from pgm.frames import is_rows
from pgm.inference.asking import session
from pgm.inference.asking.combined_evidence import combined
from pgm.inference.asking.compiled_model import total_of
from pgm.inference.asking.failures import refuse_soft
from pgm.inference.asking.row_questions import RowQuestions
from pgm.inference.asking.session import whole
from pgm.inference.engines import Engine, Exact
from pgm.inference.engines.capabilities import Draws, Everything, Maxima, Plans, Sums
from pgm.inference.engines.plan import Plan
from pgm.inference.engines.wide_numbers import log_of, ratio_of
from pgm.randomness import draw_count, generator
from pgm.results import (
    Assignment,
    Density,
    Distribution,
    Information,
    Logarithm,
    Marginals,
    MaxMarginals,
    Probability,
    RankedAssignments,
    Report,
    Samples,
    merged,
)
from pgm.runtime.clock import WRAPPING, start_clock
from pgm.runtime.running import Impossible

if TYPE_CHECKING:
    from pgm.inference.asking.compiled_query import CompiledQuery

Given = Mapping[str, Any] | None


class Questions(RowQuestions):
    """The questions of a model: here about one case; those about the rows of a frame are inherited."""

    def query(
        self, targets: str | Iterable[str], given: Given = None, *, engine: str | Engine = "auto"
    ) -> Distribution | Any:  # or a Density: were that said, `p[state]` would need a cast
        """Return P(targets | given): of one variable, or the joint of several in the order asked.

        The result is a `Distribution`, or a `Density` if targets are continuous.

        Args:
            targets: one name or a list of names; targets may also be observed.
            given: the evidence, {name: state}. In place of a state there may be pgm.OneOf, pgm.Not,
                pgm.Likelihood, pgm.Soft, a number, or a pgm.Interval; None means not observed.
            engine: "auto" is exact or raises `TooLarge`; or the name of one of pgm.engines, such as "loopy",
                or such an engine with options.

        Raises:
            IncompleteModel: a table is missing.
            UnknownVariable: the model has no variable of this name.
            UnknownState, InvalidEvidence: the evidence cannot be understood.
            ImpossibleEvidence: the evidence has probability zero; `.contradiction` is a minimal part of it
                that does.
            TooLarge: the answer does not fit the memory limit; `.plan` says what it would take.
            OutOfTime: the time limit has passed.
            InvalidArgument: there is no such engine, or it does not answer this question.
            NoSupportFound: an approximate engine found nothing possible, which is no proof of anything.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> p = net.query("lung", {"xray": "yes", "smoke": pgm.Not("no")})
        >>> round(p["yes"], 6), p.exact
        (0.645991, True)
        >>> net.query(["lung", "tub"], {"xray": "yes"}).names
        ('lung', 'tub')
        """
        chosen, clock = session.begin(engine, "query")
        compiled = self._compile_in(clock)
        asked = self._asked(compiled, targets)

        def answer(prepared: Sums) -> Distribution | Density:
            places = list(map(compiled.position.__getitem__, asked))
            return prepared.distribution(compiled.variables, places)

        return self._answer(compiled, observe(compiled.by_name, given), chosen, answer, clock, about=asked)

    def marginals(
        self,
        given: Given = None,
        *,
        targets: str | Iterable[str] | None = None,
        engine: str | Engine = "auto",
    ) -> Marginals:
        """Return P(variable | given) for every variable that is not observed, in one pass.

        With targets, only for those: they may fit where all marginals are too large.

        Args:
            given: as for `query`.
            targets: one name or a list of names; None: all that are not observed.
            engine: as for `query`.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.
            InvalidArgument: a continuous variable has no exact answer; targets= asks for the others.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> round(net.marginals({"dysp": "yes"})["bronc"]["yes"], 6)
        0.833967
        """
        chosen, clock = session.begin(engine, "marginals")
        compiled = self._compile_in(clock)
        asked = None if targets is None else self._asked(compiled, targets, joint=False)
        observed = observe(compiled.by_name, given)

        def answer(prepared: Sums) -> Marginals:
            places = None if asked is None else [compiled.position[name] for name in asked]
            return prepared.every_marginal(compiled.variables, places)

        return self._answer(compiled, observed, chosen, answer, clock, about=asked)

    def log_probability(
        self, event: Given, *, given: Given = None, engine: str | Engine = "auto"
    ) -> Logarithm:
        """Return the logarithm of P(event | given); minus infinity if the event is impossible.

        If the event gives values of continuous variables, it is the logarithm of their density.

        Args:
            event: states or values of some variables, in the form of evidence for `query`.
            given: further evidence, in the same form.
            engine: as for `query`.

        Raises:
            ImpossibleEvidence: `given` has probability zero; the event may.
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> round(net.log_probability({"dysp": "yes"}), 6)
        -0.83018
        """
        return self.probability(event, given=given, engine=engine).log

    def probability(self, event: Given, *, given: Given = None, engine: str | Engine = "auto") -> Probability:
        """Return P(event | given), a float whose `.log` remains accurate if it underflows.

        If the event gives values of continuous variables, it is a density, which may be larger than 1.
        An impossible event has probability 0; an impossible condition raises `ImpossibleEvidence`.

        Args:
            event: states or values of some variables, in the form of evidence for `query`, without pgm.Soft.
            given: further evidence, in the same form.
            engine: as for `query`.

        Raises:
            ImpossibleEvidence: `given` has probability zero; the event may.
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> round(net.probability({"lung": "yes"}, given={"dysp": "yes"}), 6)
        0.102759
        """
        chosen, clock = session.begin(engine, "probability")
        compiled = self._compile_in(clock)
        first, second = observe(compiled.by_name, event), observe(compiled.by_name, given)
        refuse_soft(first)
        refuse_soft(second)

        under, reports = (0.5, 1), []
        if second.given or not self._normalised():
            chosen, other = chosen.for_both_sums()
            under, below = self._answer(compiled, second, other, total_of, clock, about=())
            reports.append(below)
        both = combined(first, second, compiled.by_name)
        try:
            found = (
                None
                if both is None
                else self._answer(compiled, both, chosen, total_of, clock, explain=False, about=())
            )
        except Impossible:
            found = None
        if found is None:
            return Probability(0.0, Report(chosen.name, exact=True, profile=clock.profile), log=-math.inf)
        above = found[0]
        report = found[1]
        if reports or not report.exact:
            # a density has no upper limit
            dense = any(compiled.by_name[name].continuous for name in first.given)
            between = _between(report, *reports, most=math.inf if dense else first.log_most)
            report = merged([report, *reports]).changed(log_bounds=between)
        weight = (both.log_weight if both else 0.0) - second.log_weight
        log = log_of(above) - log_of(under) + weight
        if report.log_bounds is not None and not report.log_bounds[0] <= log <= report.log_bounds[1]:
            log = min(max(log, report.log_bounds[0]), report.log_bounds[1])
            value = math.exp(min(log, 709.0))
        elif weight == 0.0:
            value = ratio_of(above, under)
        else:  # weights are not probabilities: their product may overflow a double
            value = math.exp(log) if log < 709.0 else math.inf
        if abs(log) < 1.0 and weight == 0.0:  # the difference of logarithms has lost digits
            log = math.log(value)
        found_out = Probability(value, report, log=log)
        clock.lap(WRAPPING)
        return found_out

    def map(
        self,
        given: Given = None,
        *,
        targets: str | Iterable[str] | None = None,
        engine: str | Engine = "auto",
    ) -> Assignment:
        """Return the most probable explanation: the states of all variables not observed, or of the targets.

        With targets, everything else is summed out (marginal MAP). Ties go to the states declared first, in
        order of the variables. If no tree fits, minimum cuts or a search may still give an exact answer;
        `engine="branch-and-bound"` gives the best found in time, with a bound.

        Args:
            given: as for `query`.
            targets: the variables whose states are wanted, one name or a list; None: all that are not
                observed.
            engine: as for `query`.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> best = net.map({"dysp": "yes"}, targets=["bronc", "lung"])
        >>> dict(best), round(best.probability, 6)
        ({'bronc': 'yes', 'lung': 'no'}, 0.76894)
        """
        return self._best(given, 1, targets, engine)[0]

    def k_best(
        self,
        given: Given = None,
        *,
        k: int = 5,
        targets: str | Iterable[str] | None = None,
        engine: str | Engine = "auto",
    ) -> list[Assignment]:
        """Return the k most probable explanations, best first; fewer if fewer are possible.

        Ties go to the states declared first, in order of the variables. If no tree fits, a search may still
        be exact; `engine="branch-and-bound"` gives the best found in time. Each answer then has a bound on
        the true answer of its rank; those that reach it are `exact`. The list prints as one table of the
        differences.

        Args:
            given: as for `query`.
            k: how many explanations.
            targets: as for `map`.
            engine: as for `query`.

        Raises:
            InvalidArgument: k is not a whole number of at least 1, or the engine finds only one.
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> [one["bronc"] for one in net.k_best({"dysp": "yes"}, k=2, targets="bronc")]
        ['yes', 'no']
        """
        return RankedAssignments(self._best(given, whole(k, "k", 1), targets, engine))

    def _best(
        self, given: Given, k: int, targets: str | Iterable[str] | None, engine: str | Engine
    ) -> list[Assignment]:
        chosen, clock = session.begin(engine, "k_best" if k > 1 else "map")
        compiled = self._compile_in(clock)
        asked = None if targets is None else self._asked(compiled, targets, joint=False)
        observed = observe(compiled.by_name, given)
        summed = asked is not None and len({*asked, *observed.hard}) < len(compiled.names)
        if summed:
            chosen = session.also_answers(engine, "marginal MAP", clock)

        def answer(prepared: Maxima) -> list[Assignment]:
            places = None if asked is None else [compiled.position[name] for name in asked]
            normalised = self._normalised()
            return prepared.assignments(compiled.variables, places, k, observed, normalised=normalised)

        return self._answer(compiled, observed, chosen, answer, clock, about=asked)

    def max_marginals(self, given: Given = None, *, engine: str | Engine = "auto") -> MaxMarginals:
        """Return, for each state, how probable the best explanation with it is: max P(all states, given).

        `map` gives the best explanation; this says by how much it wins, variable by variable: a state whose
        value is close to the best might as well be part of the explanation. For undirected models it is the
        largest product of the factors; with pgm.Soft, which has no probability of its own, it is
        max P(all states | given).

        Args:
            given: the evidence, as for `map`.
            engine: only "exact" answers this.

        Raises:
            ImpossibleEvidence: the evidence has probability zero.
            TooLarge: no tree fits.

        >>> import pgm
        >>> net = pgm.BayesianNetwork()
        >>> net.add("rain", 0.3)
        >>> net.add("wet", {True: 0.9, False: 0.2}, parents=["rain"])
        >>> net.max_marginals({"wet": True})
        variable  state  P         next
        rain      True   0.270000  False 0.140000
        given wet=True
        """
        chosen, clock = session.begin(engine, "max_marginals")
        compiled = self._compile_in(clock)
        observed = observe(compiled.by_name, given)

        def answer(prepared: Everything) -> MaxMarginals:
            return prepared.max_assignments(compiled.variables, observed)

        return self._answer(compiled, observed, chosen, answer, clock, about=())

    def sample(
        self,
        n: int,
        *,
        given: Given = None,
        seed: int | np.random.Generator | None = None,
        engine: str | Engine = "auto",
    ) -> Samples:
        """Draw n samples from P(all variables | given), exactly: {name: array}, ready for a data frame.

        If no tree fits, `engine="gibbs"`, `"importance"` and others sample approximately and report how well.

        Args:
            n: how many samples.
            given: as for `query`.
            seed: an integer of any size, or a numpy Generator; None: different samples each time.
            engine: as for `query`.

        Raises:
            InvalidArgument: n or seed is not a whole number of at least 0.
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> cases = net.sample(1000, given={"dysp": "yes"}, seed=0)
        >>> sorted(set(cases["dysp"])), len(cases["lung"])
        (['yes'], 1000)
        """
        count = draw_count(n)
        rng = generator(seed)
        chosen, clock = session.begin(engine, "sample")
        compiled = self._compile_in(clock)

        def answer(prepared: Draws) -> Samples:
            return prepared.samples(compiled.variables, count, rng)

        return self._answer(compiled, observe(compiled.by_name, given), chosen, answer, clock, about=())

    def mutual_information(
        self,
        a: str | Sequence[str],
        b: str | Sequence[str],
        given: Mapping[str, Any] | str | Sequence[str] | None = None,
        *,
        engine: str | Engine = "auto",
    ) -> Information:
        """Return the mutual information of some variables with others, in nats: 0 if they are independent.

        A mapping as `given` is evidence, as in every question: I(a; b | wet=True). Given only names, the
        result is the average over their states: I(a; b | wet), 0 where `independent` is true. For both at
        once use the joint: `net.query(["a", "b", "c"], {"wet": True}).mutual_information("a", "b", "c")`.

        Args:
            a: the name of a variable, or a list of several, taken jointly.
            b: the other variable, or a list of several.
            given: evidence, or names to condition on.
            engine: as for `query`.

        Raises:
            UnknownVariable: a name that the model does not have.
            InvalidArgument: a name occurs twice; or the variables are discrete and continuous, or have a
                mixture of normals, for which there is no closed form.
            TooLarge: the joint distribution of all the named variables does not fit.

        >>> from pgm import BayesianNetwork
        >>> net = BayesianNetwork()
        >>> net.add("coin", 0.5)
        >>> net.add("said", {True: 0.9, False: 0.1}, parents=["coin"])
        >>> round(net.mutual_information("coin", "said"), 6)
        0.368064
        """
        evidence = given if given is None or isinstance(given, Mapping) else None
        others = names_of(None if evidence is not None else given)
        asked = [*names_of(a), *names_of(b), *others]
        joint = self.query(list(dict.fromkeys(asked)), evidence, engine=engine)
        report = joint.report
        return Information(
            joint.mutual_information(a, b, others),
            Report(report.engine, report.exact, report.converged, advice=report.advice, given=report.given),
        )

    def plan(
        self,
        targets: str | Iterable[str] | None = None,
        given: Given = None,
        *,
        engine: str | Engine = "auto",
    ) -> Plan:
        """Return what `query(targets, given)` would cost, or all marginals; allocates no table.

        Args:
            targets: as for `query`; None: all marginals.
            given: as for `query`; the particular states do not matter.
            engine: as for `query`.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence: as for `query`, if it shows before any sum.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.plan("lung", {"dysp": "yes"}).fits
        True
        """
        chosen, clock = session.begin(engine, "plan")
        compiled = self._compile_in(clock)
        asked = None if targets is None else self._asked(compiled, targets)

        def answer(prepared: Plans) -> Plan:
            places = None if asked is None else [compiled.position[name] for name in asked]
            what = "all marginals" if asked is None else f"P({listed(asked)}"
            known = f" | {listed(list(given))}" if given else ""
            return prepared.plan(what + known + (")" if asked else ""), places)

        return self._answer(
            compiled, observe(compiled.by_name, given), chosen, answer, clock, fit=False, about=asked
        )

    def expected_counts(self, given: Any = None, *, weights: Any = None) -> dict[Any, Any]:
        """Return the expected sufficient statistics of every distribution, which `cpd.fitted` takes.

        For a table they are P(table entry | given), summed over the rows of a frame: {name: array shaped as
        the table}. A distribution stored as several small tables, such as pgm.NoisyOr of several causes, has
        `RowCounts`: how often each cause, in each of its states, is expected to have had each effect. For a
        density they are the weight, mean and scatter of its continuous parents and itself, for each
        configuration of its discrete parents; with an interval as evidence they have no closed form, and
        densities are left out. So is pgm.Logistic with continuous parents, or with too many parents for a
        table: it has no small sufficient statistics.

        Args:
            given: as for `query`; or a data frame, or a dict of columns: then the sum over its rows, equal
                rows once and rows that observe the same variables side by side.
            weights: how much each row of a frame counts: an array, or the name of a column.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            InvalidFrame: what was passed is not a frame, or its columns differ in length.
            InvalidArgument: weights are negative, or not one for each row of a frame.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.expected_counts({"smoke": "yes"})["lung"].round(6).tolist()
        [[0.1, 0.9], [0.0, 0.0]]
        >>> net.expected_counts({"smoke": ["yes", "no", None]})["smoke"].round(6).tolist()
        [1.5, 1.5]
        """
        clock = start_clock()
        compiled = self._compile_in(clock)
        if is_rows(given):
            from pgm.inference.asking.frame_statistics import of_frame

            def of_rows() -> dict[Any, Any]:
                parts = partial(self._in_bulk, compiled.position)
                return self._expected(*of_frame(compiled, given, weights, clock, parts))

            return session.answered(compiled, None, clock, of_rows)
        if weights is not None:
            raise InvalidArgument("weights= are for the rows of a frame, and this is evidence on one case.")

        def answer(prepared: Everything) -> dict[Any, Any]:
            return self._expected(prepared.program, *prepared.expected_statistics())

        return self._answer(compiled, observe(compiled.by_name, given), Exact(), answer, clock)

    def impute(
        self, frame: Any, draws: int = 1, *, seed: int | np.random.Generator | None = None
    ) -> list[Any]:
        """Return copies of a frame with its missing cells drawn from P(missing | row), exactly.

        Several draws show how uncertain an analysis of the imputed data is (multiple imputation,
        Rubin 1987). The most probable value of each cell is what `predict(frame)` gives.

        Args:
            frame: a data frame or a dict of columns; those that are not variables are left as they are.
            draws: how many copies to return.
            seed: a whole number, or a numpy Generator; None: different draws each time.

        Raises:
            InvalidArgument: draws is not a whole number of at least 1.
            UnknownState, ImpossibleEvidence, InvalidFrame: as for `predict`.
            TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> first, second = net.impute({"lung": ["yes", None], "either": [None, "no"]}, draws=2, seed=0)
        >>> first["either"].tolist(), second["lung"].tolist()
        (['yes', 'no'], ['yes', 'no'])
        """
        from pgm.inference.asking.imputing import imputed

        count, random, clock = whole(draws, "draws=", 1), generator(seed), start_clock()
        compiled = self._compile_in(clock)
        return imputed(self, compiled, frame, count, random, clock)

    def gradients(self, given: Given = None, *, zeros: bool = False) -> dict[Any, np.ndarray]:
        """Return the derivative of log P(given) by every table entry: {name: array shaped as the table}.

        The entries are treated as independent parameters. For a non-zero entry it is the expected count
        (`expected_counts`) divided by the entry. Gates and continuous variables have no table, as in
        `expected_counts`. Values beyond the range of a double are infinite. For the derivative of an answer,
        with rows that remain distributions, there is `sensitivity`.

        Args:
            given: as for `query`.
            zeros: whether to differentiate by zero entries as well, over all the states that they rule out,
                which may take much longer; otherwise these are NaN.

        Raises:
            UnknownVariable, UnknownState, InvalidEvidence: as for `query`.
            ImpossibleEvidence, TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> net.gradients({"lung": "yes"})["smoke"].round(6).tolist()
        [1.818182, 0.181818]
        """
        clock = start_clock()
        compiled = self._compile_in(clock)
        observed = observe(compiled.by_name, given)
        refuse_soft(observed)

        def answer(prepared: Everything) -> dict[Any, np.ndarray]:
            return self._tables(prepared.program, prepared.derivatives(zeros=zeros))

        return self._answer(compiled, observed, Exact(), answer, clock)

    def compile(
        self, target: str | Iterable[str], given: str | Iterable[str] | Mapping[str, Any] = ()
    ) -> CompiledQuery:
        """Return a function from evidence on the names `given` to P(target | evidence), for repeated use.

        It keeps the tables of the moment, whatever becomes of the model.

        Args:
            target: one name or a list of names.
            given: the names that will be observed.

        Raises:
            UnknownVariable: the model has no variable of this name.
            TooLarge, OutOfTime: as for `query`.

        >>> import pgm
        >>> net = pgm.load_network("asia")
        >>> ask = net.compile("lung", given=["smoke", "xray"])
        >>> round(ask({"smoke": "yes", "xray": "yes"})["yes"], 6)
        0.645991
        """
        from pgm.inference.asking.compiled_query import CompiledQuery

        clock = start_clock()
        compiled = self._compile_in(clock)
        known = names_of(given, compiled.by_name)
        return CompiledQuery(self, compiled, self._asked(compiled, target), known, clock)


def _between(
    above: Report, below: Report | None = None, *, most: float = math.inf
) -> tuple[float, float] | None:
    """Bounds on the logarithm of a probability, or of a quotient of two, which is at most `most`."""
    if below is None or above.log_bounds is None or below.log_bounds is None:
        return above.log_bounds if below is None else None
    low, high = above.log_bounds[0] - below.log_bounds[1], above.log_bounds[1] - below.log_bounds[0]
    if math.isnan(low) or math.isnan(high) or (low == -math.inf and high == math.inf):
        return None
    high = min(high, most)
    return low - 2.0**-52 * abs(low), high + 2.0**-52 * abs(high)
