"""What must not matter, does not; what must follow, follows. Random models, no oracle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

import pgm
from tests.oracle import Oracle
from tests.strategies import RNG, Case, Numbers, bayesian_networks, knowledge, markov_networks, models

DATA = st.data()
POSITIVE = st.just(Numbers())
ENGINES = ["exact", "elimination"]


def answerable(
    data: st.DataObject, cases: st.SearchStrategy[Case], **options: Any
) -> tuple[Case, dict[str, Any]]:
    case = data.draw(cases)
    question = data.draw(knowledge(case, **options))
    note(f"{case!r}\ngiven = {question.given}")
    assume(question.oracle(case).possible)
    return case, question.given


def same(found: Any, expected: Any, within: float = 1e-12) -> None:
    """The same distributions by state, whatever the order of states and variables."""
    assert set(found) == set(expected)
    for name, distribution in found.items():
        other = expected[name].to_dict()
        assert distribution.to_dict() == {state: pytest.approx(other[state], abs=within) for state in other}


def rebuilt(case: Case, rng: np.random.Generator, *, states: bool = False, parents: bool = False) -> Any:
    """The same model from its tables: states, parents, the order of variables and factors shuffled."""
    axes = {
        name: rng.permutation(len(own)) if states else np.arange(len(own))
        for name, own in case.states.items()
    }
    own_states = {name: [case.states[name][i] for i in axes[name]] for name in case.names}

    def shuffled(scope: tuple[str, ...], table: np.ndarray, last: int) -> tuple[list[str], np.ndarray]:
        table = np.asarray(table, dtype=float)[np.ix_(*(axes[name] for name in scope))]
        head = len(scope) - last
        order = [*(rng.permutation(head) if parents else range(head)), *range(head, len(scope))]
        return [scope[i] for i in order], table.transpose(order)

    if case.plain.directed:
        net = pgm.BayesianNetwork()
        for scope, table in case.plain.tables:
            names, values = shuffled(scope, table, 1)
            net.add(names[-1], values, parents=names[:-1], states=own_states[names[-1]])
        return net
    mrf = pgm.MarkovNetwork()
    for i in rng.permutation(len(case.names)) if parents else range(len(case.names)):
        mrf.add_variable(case.names[i], states=own_states[case.names[i]])
    for i in rng.permutation(len(case.plain.tables)) if parents else range(len(case.plain.tables)):
        names, values = shuffled(*case.plain.tables[i], 0)
        mrf.add_factor(names, values)
    return mrf


@given(data=DATA)
def test_the_order_of_states_is_nobodys_business(data):
    case, known = answerable(data, models(most=6))
    other = rebuilt(case, data.draw(RNG), states=True)
    same(other.marginals(known), case.model.marginals(known))


@given(data=DATA)
def test_the_order_of_parents_factors_and_variables_does_not_matter(data):
    case, known = answerable(data, models(most=6))
    other = rebuilt(case, data.draw(RNG), parents=True)
    same(other.marginals(known), case.model.marginals(known))
    expected = case.model.log_probability(known)
    assert other.log_probability(known) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(data=DATA)
def test_names_do_not_matter(data):
    case, known = answerable(data, bayesian_networks(most=6))
    renamed = case.model.rename({name: f"the {name}" for name in case.names})
    found = renamed.marginals({f"the {name}": value for name, value in known.items()})
    same({name.removeprefix("the "): found[name] for name in found}, case.model.marginals(known))


@given(data=DATA)
def test_a_barren_node_changes_nothing(data):
    case, known = answerable(data, bayesian_networks(most=6))
    net = case.model.copy()
    rng = data.draw(RNG)
    parents = data.draw(st.lists(st.sampled_from(case.names), max_size=3, unique=True))
    shape = (*(len(case.states[p]) for p in parents), 3)
    net.add("barren", Numbers(zeros=0.3).rows(rng, shape), parents=parents, states=["x", "y", "z"])
    found = net.marginals(known)
    same({name: found[name] for name in found if name != "barren"}, case.model.marginals(known))
    assert net.log_probability(known) == pytest.approx(
        case.model.log_probability(known), rel=1e-12, abs=1e-12
    )
    assert "barren" in net.map(known)


@given(data=DATA)
def test_a_state_observed_in_five_ways(data):
    case = data.draw(models(most=6))
    name = data.draw(st.sampled_from(case.names))
    own = case.states[name]
    assume(len(own) > 1)
    code = data.draw(st.integers(0, len(own) - 1))
    note(f"{case!r}\n{name!r} is {own[code]!r}")
    assume(float(Oracle(case.plain).weight_of({name: code})) > 0)
    ways = [
        own[code],
        pgm.OneOf(own[code]),
        pgm.Not(*(state for state in own if state != own[code])),
        pgm.Likelihood({state: float(state == own[code]) for state in own}),
        pgm.Soft({own[code]: 1.0}),
    ]
    first = case.model.marginals({name: ways[0]})
    for way in ways[1:]:
        found = case.model.marginals({name: way})
        same({n: found[n] for n in first}, first)
        assert found.get(name) is None or found[name][own[code]] == 1.0
    assert case.model.map({name: ways[0]}) == case.model.map({name: ways[1]})


@given(data=DATA)
def test_the_chain_rule(data):
    """P(a, b | e) = P(a | e) P(b | a, e)."""
    case, known = answerable(data, models(most=6), kinds=("hard", "one of", "likelihood"))
    assume(len(case.names) > 1)
    a, b = data.draw(st.permutations(case.names))[:2]
    assume(a not in known)
    joint = case.model.query([a, b], known)
    p_a = case.model.query(a, known)
    for state in case.states[a]:
        if p_a[state] > 0:
            p_b = case.model.query(b, {**known, a: state})
            for other in case.states[b]:
                assert joint[state, other] == pytest.approx(p_a[state] * p_b[other], abs=1e-12)


@given(data=DATA)
def test_everything_sums_to_one(data):
    case, known = answerable(data, models())
    for distribution in case.model.marginals(known).values():
        assert distribution.values.sum() == pytest.approx(1.0, abs=1e-12)
        assert (distribution.values >= 0).all()


@given(data=DATA)
def test_a_likelihood_counts_by_its_ratios(data):
    case, known = answerable(data, models(most=6), kinds=("likelihood",))
    scale = data.draw(st.sampled_from([1e-200, 1e-3, 7.0, 1e200]))
    scaled = {
        name: pgm.Likelihood({s: w * scale for s, w in weights.items}) for name, weights in known.items()
    }
    same(case.model.marginals(scaled), case.model.marginals(known))
    shift = len(known) * np.log(scale)
    expected = case.model.log_probability(known) + shift
    assert case.model.log_probability(scaled) == pytest.approx(expected, rel=1e-12, abs=1e-10)


@given(data=DATA)
def test_the_order_of_evidence_does_not_change_a_bit(data):
    case, known = answerable(data, models(most=6))
    backwards = dict(reversed(known.items()))
    found, again = case.model.marginals(known), case.model.marginals(backwards)
    assert all(np.array_equal(found[name].values, again[name].values) for name in found)
    assert case.model.log_probability(known) == case.model.log_probability(backwards)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
@given(data=DATA)
def test_tables_times_anything(scale, data):
    """The scale of a factor moves the partition function by its logarithm and nothing else."""
    case, known = answerable(data, markov_networks(POSITIVE, most=6))
    net = pgm.MarkovNetwork()
    for name, own in case.states.items():
        net.add_variable(name, states=list(own))
    for scope, table in case.plain.tables:
        net.add_factor(list(scope), table * scale)
    same(net.marginals(known), case.model.marginals(known))
    expected = case.model.log_partition() + len(case.plain.tables) * np.log(scale)
    assert net.log_partition() == pytest.approx(expected, rel=1e-12, abs=1e-10)
    assert net.log_probability(known) == pytest.approx(case.model.log_probability(known), abs=1e-9)


@given(data=DATA)
def test_a_factor_split_in_two_is_the_same_factor(data):
    case, known = answerable(data, markov_networks(most=6))
    assume(case.plain.tables)
    rng = data.draw(RNG)
    net = pgm.MarkovNetwork()
    for name, own in case.states.items():
        net.add_variable(name, states=list(own))
    for scope, table in case.plain.tables:
        part = rng.uniform(0.5, 2.0, size=table.shape)
        net.add_factor(list(scope), table / part)
        net.add_factor(list(reversed(scope)), part.T)
    same(net.marginals(known), case.model.marginals(known))


@given(data=DATA)
def test_doing_is_surgery(data):
    """`do` gives the answers of the network whose arrows into the node were cut by hand."""
    case = data.draw(bayesian_networks(most=6))
    name = data.draw(st.sampled_from(case.names))
    code = data.draw(st.integers(0, len(case.states[name]) - 1))
    note(f"{case!r}\ndo {name!r} = {case.states[name][code]!r}")
    cut = pgm.BayesianNetwork()
    for scope, table in case.plain.tables:
        child, parents = scope[-1], list(scope[:-1])
        if child == name:
            parents, table = [], np.eye(len(case.states[name]))[code]
        cut.add(child, np.asarray(table, dtype=float), parents=parents, states=list(case.states[child]))
    found = case.model.do({name: case.states[name][code]}).marginals()
    expected = cut.marginals()
    same({n: found[n] for n in found if n != name}, {n: expected[n] for n in expected if n != name})


@given(data=DATA)
def test_a_bayesian_network_is_a_markov_network(data):
    case, known = answerable(data, bayesian_networks(most=6))
    mrf = case.model.to_markov_network()
    same(mrf.marginals(known), case.model.marginals(known))
    assert mrf.log_partition() == pytest.approx(0.0, abs=1e-12)
    assert mrf.log_probability(known) == pytest.approx(
        case.model.log_probability(known), rel=1e-12, abs=1e-12
    )
    best, other = mrf.map(known), case.model.map(known)
    assert best.log_probability == pytest.approx(other.log_probability, rel=1e-12, abs=1e-12)


@given(data=DATA)
def test_copies_and_pickles_answer_with_the_same_bits(data):
    case, known = answerable(data, models(most=6))
    first = case.model.marginals(known)
    again = pickle.loads(pickle.dumps(case.model)).marginals(known)
    copied = case.model.copy().marginals(known)
    for name in first:
        assert np.array_equal(first[name].values, again[name].values)
        assert np.array_equal(first[name].values, copied[name].values)


@pytest.mark.parametrize("engine", ENGINES)
@given(data=DATA)
def test_an_edited_network_gives_no_stale_answer(engine, data):
    """Asked before and after each edit, it answers as a network built that way at once."""
    case, known = answerable(data, bayesian_networks(POSITIVE, most=5))
    net, rng = case.model, data.draw(RNG)
    net.marginals(known, engine=engine)
    edited = data.draw(st.sampled_from(case.names))
    scope, table = next(t for t in case.plain.tables if t[0][-1] == edited)
    new = Numbers().rows(rng, np.shape(table))
    net.set(edited, new, parents=list(scope[:-1]))
    tables = [(s, new if s[-1] == edited else t) for s, t in case.plain.tables]
    fresh = rebuilt(Case(None, type(case.plain)(case.plain.cards, tuple(tables), True), case.states), rng)
    assume(fresh.probability(known) > 0)
    same(net.marginals(known, engine=engine), fresh.marginals(known, engine=engine))
    net.add("more", [[0.25, 0.75]] * len(case.states[edited]), parents=[edited], states=[0, 1])
    assert net.query("more", known, engine=engine)[1] == pytest.approx(0.75, abs=1e-12)
    net.remove("more")
    same(net.marginals(known, engine=engine), fresh.marginals(known, engine=engine))


@pytest.mark.parametrize("seed", range(12))
def test_engines_and_questions_agree_on_larger_networks(seed):
    """Thirty nodes, a third of the entries zero: nothing to enumerate, but every way must give the same."""
    rng = np.random.default_rng(seed)
    net = pgm.BayesianNetwork()
    names = [f"n{i}" for i in range(30)]
    numbers = Numbers(zeros=0.35, decades=float(seed % 3) * 3)
    for i, name in enumerate(names):
        card = int(rng.integers(1, 5))
        near = names[max(0, i - 6) : i]
        parents = [str(p) for p in rng.permutation(near)[: int(rng.integers(0, 4))]]
        shape = (*(len(net.variables[p].states) for p in parents), card)
        net.add(name, numbers.rows(rng, shape), parents=parents, states=list(range(card)))
    case = net.sample(1, seed=seed)
    known = {name: case[name][0] for name in rng.permutation(names)[: seed % 8].tolist()}
    m = net.marginals(known)
    same(net.marginals(known, engine="elimination"), m)
    for name in list(m)[:6]:
        for engine in ENGINES:
            same({name: net.query(name, known, engine=engine)}, {name: m[name]})
    a, b, c = rng.permutation(list(m))[:3].tolist()
    joints = [net.query([a, b, c], known, engine=engine) for engine in ENGINES]
    np.testing.assert_allclose(joints[0].values, joints[1].values, rtol=0, atol=1e-12)
    same({b: joints[0].marginal(b)}, {b: m[b]})
    logs = [net.log_probability(known, engine=engine) for engine in ENGINES]
    assert logs[0] == pytest.approx(logs[1], rel=1e-12, abs=1e-12)
    best = net.map(known)
    assert net.log_probability({**known, **best}) == pytest.approx(best.log_joint, rel=1e-12)
    several = net.k_best(known, k=4)
    assert several[0] == best
    assert [x.log_joint for x in several] == sorted((x.log_joint for x in several), reverse=True)
    counts = net.expected_counts(known)
    for name in m:
        np.testing.assert_allclose(
            counts[name].reshape(-1, m[name].values.size).sum(axis=0), m[name].values, rtol=0, atol=1e-12
        )
