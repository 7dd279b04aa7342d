"""Building, editing and comparing networks; every failed edit leaves the network as it was."""

import copy
import math
import pickle

import networkx as nx
import numpy as np
import pytest

import pgm


def grass():
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    net.add(
        "wet",
        {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10},
        parents=["rain", "sprinkler"],
    )
    return net


def joint(net):
    """Multiply all tables of a small network into one."""
    names = list(net.variables)
    product = np.ones(())
    for factor in net.factors():
        if not hasattr(factor, "values"):
            raise TypeError(factor)
        shape = [1] * len(names)
        order = np.argsort(factor.scopes[0])
        for position in factor.scopes[0]:
            shape[position] = net.variables[names[position]].card
        product = product * factor.values.transpose(order).reshape(shape)
    return product


def test_the_contract():
    net = grass()
    net.add(
        "mood",
        {True: [0.7, 0.2, 0.1], ...: {"good": 0.6, "bad": 0.4}},
        parents=["wet"],
        states=["bad", "fair", "good"],
    )
    assert net.cpd("mood").values.tolist() == [[0.4, 0, 0.6], [0.7, 0.2, 0.1]]
    net.add("season", {"dry": 0.7, "rainy": 0.3})
    net.remove("season")
    net.remove("mood")
    assert net.variables["rain"].states == (False, True)
    assert net.parents("wet") == ("rain", "sprinkler")
    assert net.children("cloudy") == ("sprinkler", "rain")
    other = net.copy()
    other.set("rain", {True: 0.7, False: 0.2})
    assert other != net
    assert other.cpd("wet") == net.cpd("wet")
    assert net.rename({"wet": "grass"}).parents("grass") == ("rain", "sprinkler")
    assert isinstance(net.to_networkx(), nx.DiGraph)
    p = joint(net)
    assert p.sum() == pytest.approx(1)
    assert p[..., 1].sum() == pytest.approx(0.65125)
    assert p[:, :, 1, 1].sum() / p[..., 1].sum() == pytest.approx(0.626871, abs=1e-6)
    assert joint(net.do({"sprinkler": True}))[..., 1].sum() == pytest.approx(0.9225)


def test_tables_in_any_order():
    net = pgm.BayesianNetwork(edges="smoking -> cancer <- pollution; cancer -> cough")
    assert net.nodes == ("smoking", "cancer", "pollution", "cough")
    assert dict(net.variables) == {}
    net.set("cough", {"ill": [0.1, 0.9], ...: [0.8, 0.2]}, states=["no", "yes"])
    net.set("cancer", {("heavy", True): {"ill": 0.5, "well": 0.5}, ...: {"well": 1}})
    with pytest.raises(pgm.IncompleteModel, match="'smoking', 'pollution'"):
        net.factors()
    with pytest.raises(pgm.IncompleteModel, match="waits for"):
        net.cpd("cancer")
    with pytest.raises(pgm.IncompleteModel, match="'smoking' has no table"):
        net.cpd("smoking")
    net.set("smoking", {"heavy": 0.2, "none": 0.8})
    before = net.copy()
    with pytest.raises(pgm.InvalidTable, match=r"'cancer' does not fit 'pollution'.*no state True"):
        net.set("pollution", {"low": 0.5, "high": 0.5})
    assert net == before
    net.set("pollution", 0.3)
    assert list(net.variables) == ["smoking", "cancer", "pollution", "cough"]
    assert net.cpd("cancer").values[0, 1].tolist() == [0.5, 0.5]
    assert net.cpd("cough").values.tolist() == [[0.1, 0.9], [0.8, 0.2]]
    assert len(net.factors()) == 4

    straight = pgm.BayesianNetwork()
    straight.add("pollution", 0.3)
    straight.add("smoking", {"heavy": 0.2, "none": 0.8})
    rows = {(True, "heavy"): {"ill": 0.5, "well": 0.5}, ...: {"well": 1}}
    straight.add("cancer", rows, parents=["pollution", "smoking"])
    straight.add("cough", [[0.1, 0.9], [0.8, 0.2]], parents="cancer", states=["no", "yes"])
    assert straight == net
    assert net == straight


def test_a_table_that_waits_is_a_copy():
    net = pgm.BayesianNetwork(edges="a -> b")
    rows = {True: [0.1, 0.9], False: [0.5, 0.5]}
    net.set("b", rows, states=["x", "y"])
    rows[True][0] = 7
    again = pickle.loads(pickle.dumps(net))
    assert again == net == net.copy() == copy.deepcopy(net)
    net.set("a", 0.5)
    assert net.cpd("b").values[1].tolist() == [0.1, 0.9]
    renamed = again.rename({"a": "A", "b": "B"})
    renamed.set("A", 0.5)
    assert renamed == net.rename({"a": "A", "b": "B"})


def test_what_cannot_wait_changes_nothing():
    pd = pytest.importorskip("pandas")
    net = pgm.BayesianNetwork(edges="a -> b")
    for table, states in [(pd.DataFrame({"x": [1]}), None), ({...: 0.5}, [1, True])]:
        for edit in (net.set, net.add):
            with pytest.raises(pgm.PGMError):
                edit("b" if edit == net.set else "c", table, parents=["a"], states=states)
    assert net == pgm.BayesianNetwork(edges="a -> b")
    assert net.children("a") == ("b",)


def test_frames_and_gates_wait_too():
    pd = pytest.importorskip("pandas")
    net = pgm.BayesianNetwork(edges="a -> b; a -> c; c -> d")
    frame = pd.DataFrame({"a": [False, True], "b": ["n", "y"], "p": [1.0, 1.0]})
    net.set("b", frame)
    net.set("c", pgm.NoisyOr({"a": 0.5}))
    net.set("d", pgm.Deterministic(lambda c: not c))
    frame["p"] = 7.0
    other = net.rename({"a": "A", "b": "B", "c": "C"})
    net.set("a", 0.5)
    other.set("A", 0.5)
    assert net.cpd("b").values.tolist() == [[1, 0], [0, 1]]
    assert other.rename({"A": "a", "B": "b", "C": "c"}) == net
    assert net.cpd("d").values.tolist() == [[0, 1], [1, 0]]


EDITS = {
    "second node": (lambda n: n.add("wet", 0.5), pgm.InvalidStructure, "'wet' already"),
    "unknown parent": (
        lambda n: n.add("x", {...: 0.5}, parents=["rian"]),
        pgm.UnknownVariable,
        "Did you mean 'rain'",
    ),
    "own parent": (lambda n: n.add("x", {...: 0.5}, parents=["x"]), pgm.InvalidStructure, "cycle"),
    "parent twice": (lambda n: n.add("x", {...: 0.5}, parents=["rain"] * 2), pgm.InvalidStructure, "twice"),
    "set of parents": (lambda n: n.add("x", {...: 0.5}, parents={"rain"}), pgm.InvalidStructure, "list"),
    "parents a number": (lambda n: n.add("x", {...: 0.5}, parents=3), pgm.InvalidStructure, "list"),
    "unhashable parent": (
        lambda n: n.add("x", {...: 0.5}, parents=[[]]),
        pgm.UnknownVariable,
        "Names are text",
    ),
    "no name": (lambda n: n.add(3, 0.5), pgm.InvalidVariable, "text"),
    "bad table": (lambda n: n.add("x", 1.5), pgm.InvalidTable, "1.5"),
    "bad states": (lambda n: n.add("x", [0.5, 0.5], states=[1, True]), pgm.InvalidVariable, "'x'"),
    "remove a parent": (lambda n: n.remove("rain"), pgm.InvalidStructure, "'wet'"),
    "remove a stranger": (lambda n: n.remove("snow"), pgm.UnknownVariable, "'snow'"),
    "set a stranger": (lambda n: n.set("snow", 0.5), pgm.UnknownVariable, "'snow'"),
    "set bad rows": (lambda n: n.set("rain", {True: 0.5}), pgm.InvalidTable, "cloudy=False"),
    "set other parents": (
        lambda n: n.set("wet", {...: 0.5}, parents=["rain"]),
        pgm.InvalidStructure,
        "arrows",
    ),
    "set other states": (
        lambda n: n.set("rain", [[0.5, 0.5]] * 2, states=["n", "y"]),
        pgm.InvalidStructure,
        "children",
    ),
    "set a gate of others": (
        lambda n: n.set("wet", pgm.NoisyOr({"rain": 0.5})),
        pgm.InvalidStructure,
        "arrows",
    ),
    "gate and parents": (
        lambda n: n.add("x", pgm.NoisyOr({"rain": 0.5}), parents=["wet"]),
        pgm.InvalidStructure,
        "'rain'",
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_a_failed_edit_changes_nothing(what):
    edit, error, words = EDITS[what]
    net = grass()
    with pytest.raises(error, match=words):
        edit(net)
    assert net == grass()
    assert net.nodes == grass().nodes
    assert net.edges == grass().edges
    net.add("x", {...: 0.5}, parents=["wet"])
    assert net.children("wet") == ("x",)


def test_set():
    net = grass()
    net.set("wet", {(False, True): 0.90, ...: 0.5}, parents=["sprinkler", "rain"])
    assert net.parents("wet") == ("sprinkler", "rain")
    assert net.cpd("wet").values[0, 1, 1] == 0.9
    net.set("wet", pgm.NoisyOr({"rain": 0.9, "sprinkler": 0.8}))
    assert net.parents("wet") == ("rain", "sprinkler")
    net.set("wet", np.full((2, 2, 3), 1 / 3), states=["no", "damp", "soaked"])
    assert net.variables["wet"].states == ("no", "damp", "soaked")
    net.set("wet", {...: {"damp": 1}})
    assert net.variables["wet"].states == ("no", "damp", "soaked")
    net.set("rain", grass().cpd("rain"))
    assert net.cpd("rain") == grass().cpd("rain")


def test_distributions_go_from_network_to_network():
    net = pgm.BayesianNetwork()
    for name in grass().nodes:
        net.add(name, grass().cpd(name))
    assert net == grass()


def test_equality_does_not_ask_for_order():
    other = pgm.BayesianNetwork("another name")
    other.add("cloudy", {False: 0.5, True: 0.5})
    other.add("rain", [[0.9, 0.1], [0.2, 0.8]], parents="cloudy", states=[False, True])
    other.add("sprinkler", {...: 0.5, True: 0.1}, parents=("cloudy",))
    rows = {(True, True): 0.95, (False, False): 0.1, ...: 0.9}
    other.add("wet", rows, parents=["sprinkler", "rain"])
    assert other == grass()
    other.set("cloudy", 0.4)
    assert other != grass()
    assert grass() != 3
    with pytest.raises(TypeError):
        hash(grass())


def test_copies_share_nothing_that_changes():
    net = grass()
    for other in (net.copy(), copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other == net
        assert other.name == "wet grass"
        other.add("x", {...: 0.5}, parents=["wet"])
        other.set("cloudy", 0.1)
        assert net == grass()
        assert net.children("wet") == ()
    again = pickle.loads(pickle.dumps(net))
    assert not again.cpd("wet").values.flags.writeable


def test_views_are_read_only():
    net = grass()
    with pytest.raises(TypeError):
        net.variables["x"] = 3
    assert "rain" in net
    assert "snow" not in net
    assert len(net) == 4
    assert list(net) == ["cloudy", "sprinkler", "rain", "wet"]
    assert net.edges[0] == ("cloudy", "sprinkler")
    assert net.n_parameters == 9


def test_do():
    net = grass()
    cut = net.do({"sprinkler": 1, "rain": "false"})
    assert net == grass()
    assert cut.parents("sprinkler") == ()
    assert cut.cpd("sprinkler").values.tolist() == [0, 1]
    assert cut.cpd("rain").values.tolist() == [1, 0]
    assert cut.children("cloudy") == ()
    assert cut.parents("wet") == ("rain", "sprinkler")
    assert net.do({}) == net
    for actions, error in [
        ({"snow": True}, pgm.UnknownVariable),
        ({"rain": "maybe"}, pgm.UnknownState),
        ({"rain": None}, pgm.UnknownState),
        ("rain", pgm.InvalidEvidence),
    ]:
        with pytest.raises(error):
            net.do(actions)
    with pytest.raises(pgm.IncompleteModel):
        pgm.BayesianNetwork(edges="a -> b").do({"a": True})


def test_rename():
    net = grass()
    swapped = net.rename({"rain": "sprinkler", "sprinkler": "rain"})
    assert swapped.parents("wet") == ("sprinkler", "rain")
    assert swapped.rename({"rain": "sprinkler", "sprinkler": "rain"}) == net
    assert net.rename({}) == net
    for new, error in [
        ({"snow": "x"}, pgm.UnknownVariable),
        ({"rain": "wet"}, pgm.InvalidStructure),
        ({"rain": "x", "wet": "x"}, pgm.InvalidStructure),
        ({"rain": ""}, pgm.InvalidVariable),
        (["rain"], pgm.InvalidArgument),
    ]:
        with pytest.raises(error):
            net.rename(new)


def test_blanket_and_order():
    net = grass()
    assert net.markov_blanket("sprinkler") == {"cloudy", "rain", "wet"}
    assert net.topological_order() == ("cloudy", "sprinkler", "rain", "wet")
    assert pgm.BayesianNetwork(edges="c <- b; b <- a").topological_order() == ("a", "b", "c")


def test_ancestors_and_descendants() -> None:
    net = grass()
    assert net.ancestors("wet") == ("cloudy", "sprinkler", "rain")  # the model's order
    assert net.ancestors("cloudy") == net.descendants("wet") == ()
    assert net.descendants("cloudy") == ("sprinkler", "rain", "wet")
    assert net.descendants("rain") == ("wet",)
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'rain'"):
        net.ancestors("rian")
    asia = pgm.load_network("asia")
    graph = asia.to_networkx()
    for name in asia:
        assert asia.ancestors(name) == tuple(n for n in asia if n in nx.ancestors(graph, name))
        assert asia.descendants(name) == tuple(n for n in asia if n in nx.descendants(graph, name))
    chain = pgm.BayesianNetwork(edges=[(f"x{i}", f"x{i + 1}") for i in range(20_000)])
    assert len(chain.ancestors("x20000")) == len(chain.descendants("x0")) == 20_000


def test_separation():
    net = grass()
    assert net.independent("rain", "sprinkler", given="cloudy")
    assert not net.independent("rain", ["sprinkler"], given={"cloudy": True, "wet": True})
    assert net.independent("rain", "sprinkler", given={"cloudy": True, "wet": None})
    assert net.active_trail("rain", "sprinkler") == ("rain", "cloudy", "sprinkler")
    assert net.active_trail("rain", "sprinkler", given=["cloudy"]) is None
    assert ("wet", ("cloudy",), ("rain", "sprinkler")) in net.independencies()
    assert net.moral_graph().has_edge("rain", "sprinkler")
    assert set(map(frozenset, net.junction_tree().cliques)) == {
        frozenset({"cloudy", "rain", "sprinkler"}),
        frozenset({"wet", "rain", "sprinkler"}),
    }
    assert len(pgm.BayesianNetwork(edges="a -> b <- c").junction_tree()) == 1
    for a, b, given in [("snow", "rain", None), ("rain", "snow", None), ("rain", "wet", "snow")]:
        with pytest.raises(pgm.UnknownVariable, match="'snow'"):
            net.independent(a, b, given)


@pytest.mark.parametrize("nothing", [None, [], (), {}, {"rain": None}], ids=str)
def test_independence_is_asked_of_two_that_are_named(nothing):
    net = pgm.BayesianNetwork(edges="rain -> wet <- sprinkler")
    mrf = pgm.MarkovNetwork()
    for name in net.nodes:
        mrf.add_variable(name, states=[0, 1])
    for model in (net, mrf):
        for pair in (("rain", nothing), (nothing, "rain")):
            with pytest.raises(pgm.InvalidEvidence, match="or a list of them, is expected"):
                model.independent(*pair)
        assert model.independent("rain", "sprinkler", given=nothing)


def entropy(*p: float) -> float:
    return -math.fsum(x * math.log(x) for x in p)


def test_mutual_information_of_a_noisy_channel_and_of_a_parity() -> None:
    """Cover & Thomas 2006, section 7.1.4: a symmetric channel tells log 2 - H(error)."""
    net = pgm.BayesianNetwork()
    net.add("sent", 0.5)
    net.add("heard", {True: 0.9, False: 0.1}, parents=["sent"])
    net.add("again", {True: 0.8, False: 0.2}, parents=["heard"])
    found = net.mutual_information("sent", "heard")
    assert found == pytest.approx(math.log(2) - entropy(0.1, 0.9), abs=1e-14)
    assert found.exact
    assert found.to_dict() == {"nats": float(found)}
    both = 0.9 * 0.8 + 0.1 * 0.2  # two channels in a row
    assert net.mutual_information("sent", "again") == pytest.approx(
        math.log(2) - entropy(both, 1 - both), abs=1e-14
    )
    # names: whichever state it has; a mapping: that state, as in every question
    assert net.mutual_information("sent", "again", "heard") == pytest.approx(0.0, abs=1e-15)
    assert net.mutual_information("sent", "again", ["heard"]) == net.mutual_information(
        "sent", "again", "heard"
    )
    known = net.mutual_information("sent", "heard", {"again": True})
    p = net.query(["sent", "heard"], {"again": True})
    assert known == pytest.approx(
        entropy(*p.marginal("sent").values) + entropy(*p.marginal("heard").values) - entropy(*p.values.flat),
        abs=1e-14,
    )
    assert known.given == {"again": True}
    assert net.mutual_information("sent", "heard", {"heard": True}) == 0.0

    coins = pgm.BayesianNetwork()
    coins.add("a", 0.5)
    coins.add("b", 0.5)
    coins.add("odd", pgm.Parity(["a", "b"]))
    assert coins.mutual_information("a", "b") == 0.0
    assert coins.mutual_information("a", "b", "odd") == pytest.approx(math.log(2), abs=1e-15)
    assert coins.mutual_information("a", "b", {"odd": False}) == pytest.approx(math.log(2), abs=1e-15)
    assert coins.mutual_information(["a", "b"], "odd") == pytest.approx(math.log(2), abs=1e-15)


def test_mutual_information_of_numbers() -> None:
    """-log(1 - r**2) / 2 for the correlation r (Cover & Thomas 2006, example 8.5.1)."""
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(3.0, 2.0))
    net.add("y", pgm.LinearGaussian({"x": 1.5}, bias=1.0, sd=4.0))
    net.add("z", pgm.LinearGaussian({"y": -2.0}, sd=1.0))
    r2 = 9.0 / (9.0 + 16.0)  # of x and y: var(1.5 x) = 9, and 16 of noise
    assert net.mutual_information("x", "y") == pytest.approx(-0.5 * math.log(1 - r2), rel=1e-12)
    assert net.mutual_information("x", "z", "y") == pytest.approx(0.0, abs=1e-12)
    assert net.mutual_information("x", "y", {"z": 7.0}) < net.mutual_information("x", "y")
    assert net.mutual_information("x", ["y", "z"]) == pytest.approx(-0.5 * math.log(1 - r2), rel=1e-12)
    net.add("copy", pgm.LinearGaussian({"x": 1.0}, sd=0.0))
    with pytest.raises(pgm.InvalidArgument, match="no mutual information: its covariance is singular"):
        net.mutual_information("x", "copy")
    net.add("h", {"a": 0.5, "b": 0.5})
    net.add(
        "w", {"a": pgm.LinearGaussian({}, bias=0.0), "b": pgm.LinearGaussian({"x": 1.0})}, parents=["h", "x"]
    )
    with pytest.raises(pgm.InvalidArgument, match="mixture of normals has no closed form"):
        net.mutual_information("x", "w")


def test_tables_by_name():
    net = grass()
    net.add("slippery", pgm.NoisyOr({"wet": 0.5, "rain": 0.1}))
    net.add("not", pgm.Deterministic(lambda wet: not wet))
    counts = net.expected_counts({"wet": True})
    assert set(counts) == set(net)
    # nothing is known of `slippery`: wet acts with 0.5, rain, where it is there, with 0.1, the leak never
    rain = counts["rain"][:, 1].sum()
    wanted = [[0, 0], [0.5, 0.5], [1 - rain, 0], [0.9 * rain, 0.1 * rain], [1, 0]]
    assert counts["slippery"].values == pytest.approx(np.array(wanted))
    assert counts["wet"].shape == (2, 2, 2)
    assert rain == pytest.approx(0.626871, abs=1e-6)
    assert counts["not"].tolist() == [[0, 0], [1, 0]]
    assert net.gradients({"wet": True})["cloudy"].shape == (2,)


def test_new_tables_are_asked():
    net = grass()
    assert net.query("wet")[True] == pytest.approx(0.65125)
    net.set("rain", {True: 0.5, False: 0.5})
    other = net.query("wet")[True]
    assert other != pytest.approx(0.65125)
    net.set("rain", grass().cpd("rain"))
    assert net.query("wet")[True] == pytest.approx(0.65125)
    net.add("x", pgm.NoisyOr({"wet": 0.5}))
    assert net.query("x")[True] == pytest.approx(0.65125 / 2)
    net.remove("x")
    assert "x" not in net.marginals()
    assert net.log_probability({}) == 0.0


def test_print():
    net = grass()
    assert str(net).splitlines()[0] == "BayesianNetwork('wet grass', 4 nodes, 4 edges)"
    assert repr(net) == str(net).splitlines()[0]
    assert "rain, sprinkler" in str(net)
    assert "<table" in net._repr_html_()
    net = pgm.BayesianNetwork("<b>")
    net.add("<script>", {"<i>": 1.0})
    assert "<script>" not in net._repr_html_()
    assert "<i>" not in net._repr_html_() + net.cpd("<script>")._repr_html_()
    assert str(pgm.BayesianNetwork()) == "BayesianNetwork(0 nodes, 0 edges)\nnode  parents  states"


def test_the_name_is_text():
    with pytest.raises(pgm.InvalidArgument, match="edges="):
        pgm.BayesianNetwork([("a", "b")])


def test_from_cpds():
    cpds = [grass().cpd(name) for name in ("wet", "rain", "sprinkler", "cloudy")]
    assert pgm.BayesianNetwork._from_cpds("x", cpds) == grass()
    with pytest.raises(pgm.InvalidStructure, match="two"):
        pgm.BayesianNetwork._from_cpds("x", [*cpds, cpds[0]])
    with pytest.raises(pgm.UnknownVariable, match="'cloudy'"):
        pgm.BayesianNetwork._from_cpds("x", cpds[:3])
    a, b = pgm.Variable("a", [0, 1]), pgm.Variable("b", [0, 1])
    circle = [pgm.TableCPD(a, [b], np.eye(2)), pgm.TableCPD(b, [a], np.eye(2))]
    with pytest.raises(pgm.InvalidStructure, match="a -> b -> a"):
        pgm.BayesianNetwork._from_cpds("x", circle)
    with pytest.raises(pgm.InvalidTable, match="'a'"):
        pgm.BayesianNetwork._from_cpds("x", [pgm.TableCPD(pgm.Variable("a", [1, 2]), [], [1, 0]), circle[1]])


def test_a_hundred_thousand_nodes():
    n = 100_000
    net = pgm.BayesianNetwork(edges=((f"x{i}", f"x{i + 1}") for i in range(n - 1)))
    for i in range(n - 1, 0, -1):
        net.set(f"x{i}", {True: 0.9, False: 0.2})
    net.set("x0", 0.5)  # all tables waited for this one
    assert len(net.factors()) == n
    assert net.copy() == net
    assert net.topological_order()[-1] == f"x{n - 1}"
    assert len(str(net)) < 5000
    assert len(pickle.dumps(net)) < 40_000_000


def test_a_hub():
    net = pgm.BayesianNetwork()
    net.add("hub", 0.5)
    for i in range(20_000):
        net.add(f"x{i}", {True: 0.9, False: 0.2}, parents=["hub"])
    for i in range(20_000):
        net.remove(f"x{i}")
    assert net.children("hub") == ()


def test_an_unknown_parent_is_an_error_that_names_the_node() -> None:
    net = pgm.BayesianNetwork()
    net.add("rain", 0.2)
    with pytest.raises(
        pgm.UnknownVariable, match=r"The parents of 'wet': there is no variable 'rian'.*'rain'"
    ):
        net.add("wet", {True: 0.9, False: 0.1}, parents=["rian"])
    with pytest.raises(pgm.UnknownVariable, match="The parents of 'wet'"):
        net.add("wet", pgm.Deterministic(lambda snow: snow))


def test_the_variables_are_a_view_that_speaks_of_unknown_names() -> None:
    net = pgm.BayesianNetwork(edges="rain -> wet")
    net.set("rain", 0.2)
    with pytest.raises(pgm.UnknownVariable, match="no variable 'wet'"):
        net.variables["wet"]
    net.set("wet", {True: 0.9, False: 0.1})
    view = net.variables
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'rain'"):
        view["rian"]
    assert view.get("rian") is None
    assert "rian" not in view
    assert ["rain"] not in view
    assert pickle.loads(pickle.dumps(view)) == view == copy.deepcopy(view) == dict(view)
    assert list(view.values()) == [view["rain"], view["wet"]]
    assert repr(view) == "variable  states\nrain      False, True\nwet       False, True"
    net.add("slippery", {True: 0.5, False: 0.0}, parents="wet")
    assert list(view) == ["rain", "wet", "slippery"]
    with pytest.raises(TypeError):
        view["rain"] = view["wet"]  # type: ignore[index]


def test_a_node_without_a_table_gets_its_first() -> None:
    net = pgm.BayesianNetwork(edges="rain -> wet")
    with pytest.raises(pgm.InvalidStructure, match="'wet' already, without a table: `set` gives it one"):
        net.add("wet", 0.5)
