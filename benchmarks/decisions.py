"""Influence diagrams beside pyAgrum: the contract's, chains of observed states, the tiger unrolled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import pgm
from benchmarks.exact import Part, run_parts
from benchmarks.harness import Finding, Options, Report, Side, compete, timed

_PEER = "pyAgrum"


def contract() -> pgm.InfluenceDiagram:
    """The diagram of the contract."""
    d = pgm.InfluenceDiagram()
    d.add_chance("disease", 0.1)
    d.add_chance("test", {True: 0.9, False: 0.2}, parents=["disease"])
    d.add_decision("treat", states=[False, True], observes=["test"])
    worth = {(True, True): 80, (True, False): -100, (False, True): -20, (False, False): 0}
    d.add_utility("benefit", worth, parents=["disease", "treat"])
    return d


def chain(states: int, actions: int, steps: int) -> pgm.InfluenceDiagram:
    """A fully observed chain."""
    rng = np.random.default_rng(0)
    move, reward = rng.dirichlet(np.ones(states), (states, actions)), rng.random((states, actions))
    d = pgm.InfluenceDiagram()
    d.add_chance("s0", rng.dirichlet(np.ones(states)), states=range(states))
    for t in range(steps):
        d.add_decision(f"a{t}", range(actions), observes=[f"s{t}"])
        d.add_utility(f"r{t}", reward, parents=[f"s{t}", f"a{t}"])
        d.add_chance(f"s{t + 1}", move, parents=[f"s{t}", f"a{t}"], states=range(states))
    return d


def tiger(steps: int) -> pgm.InfluenceDiagram:
    """The tiger of hearing 0.85, put back at random after a door was opened; nothing is forgotten."""
    d = pgm.InfluenceDiagram()
    d.add_chance("z0", [0.5, 0.5], states=["left", "right"])
    for t in range(steps):
        d.add_decision(f"a{t}", ["listen", "left", "right"], observes=[f"o{t - 1}"] if t else [])
        d.add_utility(f"r{t}", [[-1, -100, 10], [-1, 10, -100]], parents=[f"z{t}", f"a{t}"])
        move = [[[1, 0], [0.5, 0.5], [0.5, 0.5]], [[0, 1], [0.5, 0.5], [0.5, 0.5]]]
        d.add_chance(f"z{t + 1}", np.array(move), parents=[f"z{t}", f"a{t}"], states=["left", "right"])
        hears = [[[0.85, 0.15], [0.5, 0.5], [0.5, 0.5]], [[0.15, 0.85], [0.5, 0.5], [0.5, 0.5]]]
        d.add_chance(f"o{t}", np.array(hears), parents=[f"z{t + 1}", f"a{t}"], states=["l", "r"])
    return d


def solving(report: Report, options: Options) -> None:
    """Solve. Ours keeps the order of elimination, as trees are kept, but for the contract's; no answer."""
    quick = max(options.sizes) < 100_000
    cases: list[tuple[str, pgm.InfluenceDiagram, float]] = [
        ("the contract's", contract(), 1 / 3),
        ("20 states, 5 actions, 20 steps", chain(20, 5, 20), 20.0),
        ("50 states, 5 actions, 50 steps", chain(50, 5, 50), 20.0),
        ("the tiger, 5 decisions" if quick else "the tiger, 8 decisions", tiger(5 if quick else 8), 50.0),
    ]
    for case, diagram, wanted in cases:
        theirs = _pyagrum(diagram)
        if theirs is None or not options.wants("solve"):
            continue
        ours = _ours(diagram, anew=case == "the contract's")
        compete(report, "solve", case, ours, theirs, questions=1, rounds=options.rounds,
                compare=_agree, label=_PEER)  # fmt: skip
        ratio = report.of("solve", _PEER)[case].ratio
        if ratio is not None:
            said = f"solve {case}, beside {_PEER}"
            report.find(Finding(said, f"{ratio:.2f} times", f"{wanted:.2f} times", ratio >= wanted))


def _ours(diagram: pgm.InfluenceDiagram, *, anew: bool) -> Side:
    def side(_: int) -> float:
        if anew:
            diagram._prepared.clear()
        return float(diagram.solve().expected_utility)

    return side


def _agree(ours: float, theirs: float) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def _pyagrum(d: pgm.InfluenceDiagram) -> Side | None:
    try:
        import pyagrum as gum
    except ImportError:
        return None
    made = gum.InfluenceDiagram()
    for name, variable in d.variables.items():
        labels = [str(state) for state in variable.states]
        label = gum.LabelizedVariable(name, name, labels)
        if name in d.decisions:
            made.addDecisionNode(label)
        else:
            made.addChanceNode(label)
    for name in d.utilities:
        made.addUtilityNode(gum.LabelizedVariable(name, name, ["worth"]))
    for parent, child in d.edges:
        made.addArc(parent, child)
    for name in d.chances:
        cpd = d.cpd(name)
        _fill(made.cpt(name), (*cpd.parents, name), cpd.table())
    for name in d.utilities:
        utility = d.utility(name)
        assert utility.values is not None
        _fill(made.utility(name), utility.parents, utility.values)

    def side(_: int) -> float:
        engine = gum.ShaferShenoyLIMIDInference(made)
        engine.addNoForgettingAssumption(list(d.decisions))
        engine.makeInference()
        return float(engine.MEU()["mean"])

    return side


def _fill(tensor: Any, names: Sequence[str], values: np.ndarray) -> None:
    """Set the entries one by one by name: the order of axes is the peer's own."""
    import pyagrum as gum

    at: Mapping[str, int] = {name: i for i, name in enumerate(names)}
    i = gum.Instantiation(tensor)
    i.setFirst()
    while not i.end():
        codes = [0] * len(names)
        for k in range(i.nbrDim()):
            name = i.variable(k).name()
            if name in at:
                codes[at[name]] = i.val(k)
        tensor.set(i, float(values[tuple(codes)]))
        i.inc()


def on_alarm() -> tuple[pgm.BayesianNetwork, pgm.InfluenceDiagram]:
    """Alarm, and a decision of three actions whose utility depends on two of its nodes."""
    net = pgm.load_network("alarm")
    above = ["HYPOVOLEMIA", "LVFAILURE"]
    d = pgm.loss_diagram(net, above[0], reject=0.5, decision="act")
    shape = [*[net.variables[name].card for name in above], 3]
    d.set("gain", np.random.default_rng(0).normal(size=shape), parents=[*above, "act"])
    return net, d


def _as_many(mine: float, other: float) -> None:
    """Both sides answer about as many things; the answers themselves have nothing in common."""
    if mine != other:
        raise AssertionError(f"{mine:g} answers beside {other:g}")


def information(report: Report, options: Options) -> None:
    """The value of every node of alarm, in queries of all its marginals."""
    if not options.wants("information"):
        return
    net, d = on_alarm()
    rows = [
        {"HYPOVOLEMIA": a, "LVFAILURE": b}
        for a in net.variables["HYPOVOLEMIA"].states
        for b in net.variables["LVFAILURE"].states
    ]

    def ours(_: int) -> float:
        return float(len(d.value_of_information(before="act")))

    def marginals(number: int) -> float:  # with every number read
        found = net.marginals(rows[number % len(rows)])
        return float(len([found[name].values for name in found])) + 2.0

    case = f"alarm, {len(rows)} combinations"
    compete(
        report,
        "information",
        case,
        ours,
        marginals,
        questions=4,
        rounds=options.rounds,
        compare=_as_many,
        label="marginals",
    )
    ratio = report.of("information", "marginals")[case].ratio
    if ratio is not None:
        each = 1.0 / (ratio * len(rows))
        said = "the value of all nodes of alarm, in all-marginals for each combination"
        report.find(Finding(said, f"{each:.2f}", "at most 5", each <= 5.0))


def predicting(report: Report, options: Options) -> None:
    """What to do in each row, beside the most probable state of one variable; and nine decisions."""
    if options.wants("predict"):
        count = min(max(options.sizes), 100_000)
        d = contract()
        policy = d.solve()
        net = pgm.BayesianNetwork()
        for name in d.chances:
            net.add(name, d.cpd(name).table(), parents=d.parents(name), states=d.variables[name].states)
        frame = {"test": np.random.default_rng(0).random(count) < 0.3}

        def acts(_: int) -> int:
            return len(policy.predict(frame, "treat"))

        def states(_: int) -> int:
            return len(net.predict(frame, "disease"))

        case = f"{count:,} rows"
        compete(
            report,
            "predict",
            case,
            acts,
            states,
            questions=1,
            rounds=options.rounds,
            compare=_as_many,
            label="net.predict",
        )
        ratio = report.of("predict", "net.predict")[case].ratio
        if ratio is not None:
            said = "policy.predict beside net.predict"
            report.find(Finding(said, f"{1 / ratio:.2f} times its time", "at most 3", ratio >= 1 / 3))
    if options.wants("nine") and max(options.sizes) >= 100_000:
        d = tiger(9)
        side = _ours(d, anew=False)
        first, value = timed(side, 0)
        again = min(timed(side, 0)[0] for _ in range(options.rounds))
        said = f"the tiger over 9 decisions, worth {value:.4f}, anew {first:.2f} s"
        report.find(Finding(said, f"{again:.2f} s", "at most 2 s", again <= 2.0))


PARTS: dict[str, Part] = {"solve": solving, "information": information, "predict": predicting}


def run(parts: Sequence[str], options: Options) -> Report:
    """Run the parts asked for."""
    return run_parts(PARTS, parts, options)
