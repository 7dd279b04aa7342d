"""Pictures: what is on them, and that they need no screen."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

import pgm
from pgm import plot


@pytest.fixture
def net():
    net = pgm.BayesianNetwork("wet grass")
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def heads(ax):
    return sum(len(c.get_paths()) for c in ax.collections if isinstance(c, PolyCollection))


def is_drawn(ax):
    ax.figure.canvas.draw()
    assert np.asarray(ax.figure.canvas.buffer_rgba())[..., :3].std() > 0
    return True


# --- networks --------------------------------------------------------------------------------------------


def test_a_network_has_a_box_for_each_node_and_a_head_for_each_arrow(net):
    ax = net.plot()
    assert sorted(texts(ax)) == ["cloudy", "rain", "sprinkler", "wet"]
    assert len(boxes(ax)) == 4
    assert heads(ax) == 4
    assert ax.get_title() == "wet grass"
    assert is_drawn(ax)


def test_parents_stand_above_their_children(net):
    at = {text.get_text(): text.get_position()[1] for text in net.plot().texts}
    assert at["cloudy"] > at["rain"] == at["sprinkler"] > at["wet"]


def test_letters_stay_inside_their_boxes(net):
    net.add("a name that is rather long, and then some", 0.3)
    for ax in (net.plot(), net.plot(given={})):
        ax.figure.canvas.draw()
        frames = [box.get_window_extent() for box in boxes(ax)]
        for text in ax.texts:
            inside = text.get_window_extent()
            assert any(
                f.x0 <= inside.x0 and inside.x1 <= f.x1 and f.y0 <= inside.y0 and inside.y1 <= f.y1
                for f in frames
            ), text


def test_posteriors_are_written_beside_their_states(net):
    ax = net.plot(given={"wet": True})
    shown = texts(ax)
    assert "62.7%" in shown  # rain: 0.626871, from the contract page
    assert shown.count("100%") == 1
    assert shown.count("True") == 4


def test_evidence_is_marked(net):
    kinds = {box.get_facecolor() for box in boxes(net.plot(given={"wet": True}))}
    assert len(kinds) == 2
    assert len({box.get_facecolor() for box in boxes(net.plot(given={}))}) == 1


def test_soft_evidence_shows_its_posterior(net):
    shown = texts(net.plot(given={"wet": pgm.Soft({True: 0.7, False: 0.3}), "rain": None}))
    assert "70.0%" in shown
    assert "30.0%" in shown


def test_many_states_are_cut_to_the_most_probable():
    net = pgm.BayesianNetwork()
    net.add("n", {i: (0.5 if i == 17 else 0.5 / 29) for i in range(30)})
    shown = texts(net.plot(given={}))
    assert "17" in shown
    assert "23 others" in shown
    assert len(shown) == 1 + 2 * 8


def test_a_junction_tree_shows_cliques_and_separators(net):
    shown = texts(net.plot(kind="junction-tree"))
    assert len(shown) == 3  # two cliques of three, and what they share
    assert sorted(len(text.split(", ")) for text in shown) == [2, 3, 3]


def test_the_moral_graph_has_no_arrows_and_marries_parents(net):
    ax = net.plot(kind="moral")
    assert heads(ax) == 0
    assert sum(len(c.get_paths()) for c in ax.collections) == 5


def test_a_factor_graph_has_a_square_for_each_table(net):
    ax = net.plot(kind="factor-graph")
    assert len(ax.patches) == 8
    assert sum(len(c.get_paths()) for c in ax.collections) == 8
    assert is_drawn(ax)


def test_markov_networks():
    mrf = pgm.MarkovNetwork("colours")
    for name in "abc":
        mrf.add_variable(name, states=["red", "blue"])
    mrf.add_factor(["a", "b"], [[10, 1], [1, 10]])
    mrf.add_factor(["b", "c"], [[10, 1], [1, 10]])
    assert sorted(texts(mrf.plot())) == ["a", "b", "c"]
    assert heads(mrf.plot()) == 0
    assert "90.9%" in texts(mrf.plot(given={"b": "red"}))
    assert len(mrf.plot(kind="factor-graph").patches) == 5
    assert len(texts(mrf.plot(kind="junction-tree"))) == 3


def test_an_image_is_drawn_as_a_grid():
    grid = pgm.MarkovNetwork.grid(
        np.eye(3, dtype=int), states=[0, 1], coupling=1.0, unary=[[0.9, 0.1], [0.1, 0.9]]
    )
    at = {text.get_text(): text.get_position() for text in grid.plot().texts}
    assert at["pixel[0,0]"][0] == at["pixel[2,0]"][0]
    assert at["pixel[1,0]"][1] == pytest.approx(at["pixel[1,2]"][1])


def test_a_network_without_tables_or_without_nodes():
    assert sorted(texts(pgm.BayesianNetwork(edges="a -> b").plot())) == ["a", "b"]
    assert is_drawn(pgm.BayesianNetwork("empty").plot())


def test_names_are_shown_as_they_are():
    net = pgm.BayesianNetwork("cost $ and $ more")
    net.add("$x_1^2$", 0.5)
    net.add("tab\tand\nline", 0.5)
    ax = net.plot()
    assert is_drawn(ax)
    assert r"\$x_1^2\$" in texts(ax)  # a matplotlib escape: no formula
    assert "tab and line" in texts(ax)


@pytest.mark.parametrize("letter", ["\0", "\a", "\ud800", "\uffff"])
def test_letters_that_no_picture_can_hold_are_escapes(letter):
    name = f"a{letter}b"
    net = pgm.BayesianNetwork(name)
    net.add(name, {name: 0.5, "no": 0.5})
    for ax in (net.plot(), net.plot(given={}), net.query(name).plot(), net.marginals().plot()):
        for kind in ("svg", "png"):
            file = io.BytesIO()
            ax.figure.savefig(file, format=kind)
            if kind == "svg":
                assert ElementTree.fromstring(file.getvalue()).tag.endswith("svg")
    assert net.plot().get_title() == f"a{letter!r}b".replace("'", "")


def test_what_is_too_large_or_unknown_is_refused(net):
    with pytest.raises(pgm.InvalidArgument, match=r"'juntion-tree'.*Did you mean 'junction-tree'"):
        net.plot(kind="juntion-tree")
    with pytest.raises(pgm.InvalidArgument, match="shows cliques"):
        net.plot(given={}, kind="junction-tree")
    with pytest.raises(pgm.UnknownVariable, match="wett"):
        net.plot(given={"wett": True})
    wide = pgm.MarkovNetwork()
    for i in range(3_001):
        wide.add_variable(f"v{i}", states=[0, 1])
    with pytest.raises(pgm.InvalidArgument, match="3,001 nodes"):
        wide.plot()
    impossible = pgm.BayesianNetwork()
    impossible.add("a", 0.0)
    with pytest.raises(pgm.ImpossibleEvidence):
        impossible.plot(given={"a": True})


def test_the_users_axes_are_used(net):
    figure = Figure(figsize=(4, 3))
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    assert net.plot(ax=left) is left
    assert net.query("rain").plot(ax=right) is right
    figure.canvas.draw()
    frames = [box.get_window_extent() for box in boxes(left)]
    for text in left.texts:  # letters shrink with the axes
        inside = text.get_window_extent()
        assert any(f.x0 <= inside.x0 + 1 and inside.x1 <= f.x1 + 1 for f in frames)


# --- answers ---------------------------------------------------------------------------------------------


def test_a_distribution_has_a_bar_for_each_state(net):
    ax = net.query("rain", {"wet": True}).plot()
    assert [round(bar.get_width(), 6) for bar in ax.patches] == [0.373129, 0.626871]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["False", "True"]
    assert texts(ax) == ["0.3731", "0.6269"]
    assert ax.get_title() == "P(rain | wet=True)"


def test_a_joint_of_two_is_a_map_and_of_three_a_list(net):
    ax = net.query(["rain", "sprinkler"]).plot()
    assert ax.images[0].get_array().shape == (2, 2)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("rain", "sprinkler")
    assert len(net.query(["rain", "sprinkler", "wet"]).plot().patches) == 8


def test_a_long_distribution_is_a_profile_and_a_long_joint_is_cut():
    net = pgm.BayesianNetwork()
    net.add("n", np.full(500, 1 / 500), states=range(500))
    net.add("m", np.full(500, 1 / 500), states=range(500))
    ax = net.query("n").plot()
    assert not ax.patches
    assert len(ax.collections) == 1
    assert net.query(["n", "m"]).plot().images[0].get_array().shape == (500, 500)
    net.add("c", 0.5)
    ax = net.query(["n", "m", "c"]).plot()
    assert len(ax.patches) == 40
    assert "40 largest of 500,000" in ax.get_title().replace("\n", " ")


def test_an_approximate_answer_says_so():
    rain = pgm.Variable("rain", [False, True])
    p = pgm.Distribution((rain,), np.array([0.5, 0.5]), pgm.Report("loopy", exact=False))
    assert "approximate: loopy" in p.plot().get_title()


def test_marginals_have_a_line_for_each_variable(net):
    shown = texts(net.marginals({"wet": True}).plot())
    assert {"cloudy", "sprinkler", "rain", "True 0.63"} <= set(shown)


def test_an_explanation_is_a_table_or_an_image(net):
    assert set(texts(net.map({"wet": True}).plot())) == {"cloudy", "sprinkler", "rain", "True", "False"}
    noisy = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0]])
    grid = pgm.MarkovNetwork.grid(noisy, states=[0, 1], coupling=2.0, unary=[[0.9, 0.1], [0.1, 0.9]])
    (image,) = grid.map().plot().images
    assert image.get_array().tolist() == [[1, 1, 0]] * 3


@pytest.mark.parametrize("question", ["query", "marginals", "map"])
def test_every_picture_draws_and_saves(net, question, tmp_path):
    answer = net.query("rain") if question == "query" else getattr(net, question)()
    ax = answer.plot()
    assert is_drawn(ax)
    ax.figure.savefig(tmp_path / "picture.svg")
    ax.figure.savefig(tmp_path / "picture.pdf")


# --- no screen -------------------------------------------------------------------------------------------


def test_a_notebook_shows_the_axes_themselves(net):
    assert net.plot()._repr_png_().startswith(b"\x89PNG")


def test_pictures_need_no_pyplot():
    code = """if True:
        import sys, pgm
        net = pgm.BayesianNetwork(edges="a -> b")
        net.set("a", 0.2); net.set("b", {True: 0.1, False: 0.2})
        answers = net, net.query("a"), net.marginals(), net.map()
        for ax in (net.plot(given={}), *(answer.plot() for answer in answers)):
            ax.figure.canvas.draw()
        assert "matplotlib.pyplot" not in sys.modules
    """
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={"MPLBACKEND": "tkagg", "PYTHONPATH": ":".join(sys.path)},
    )


def test_figures_pickle(net):
    figure = pickle.loads(pickle.dumps(net.plot().figure))
    assert len(figure.axes[0].texts) == 4


def test_the_functions_are_the_methods(net):
    assert texts(plot.network(net, given={"wet": True})) == texts(net.plot(given={"wet": True}))
    assert texts(plot.distribution(net.query("rain"))) == texts(net.query("rain").plot())


def test_axes_that_are_none_are_refused() -> None:
    net = pgm.BayesianNetwork()
    net.add("a", 0.5)
    for draw in (net.plot, net.query("a").plot, net.marginals().plot, net.map().plot):
        with pytest.raises(pgm.InvalidArgument, match=r"ax= takes matplotlib Axes, .* not 3"):
            draw(ax=3)  # type: ignore[arg-type]
