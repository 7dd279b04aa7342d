"""Pictures of whole networks: readable, the same every time, and true to what is laid over them."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch
from matplotlib.textpath import TextPath

import pgm
from pgm.plot.canvas import Text, outlines
from pgm.plot.overlays import BLUE, PURPLE, VERMILLION

NETWORKS = Path(__file__).resolve().parents[3] / "shared" / "networks"
NAMES = [
    "asia",
    "cancer",
    "survey",
    "sachs",
    "child",
    "insurance",
    "alarm",
    "hailfinder",
    "win95pts",
    "andes",
]
UNARY = [[0.9, 0.1], [0.1, 0.9]]


@pytest.fixture
def wet():
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
    """The outlines of nodes in units of the picture, as left, low, right, top; plates have names."""
    found = [p for p in ax.patches if isinstance(p, FancyBboxPatch) and p.get_gid() is None]
    return [(p.get_x(), p.get_y(), p.get_x() + p.get_width(), p.get_y() + p.get_height()) for p in found]


def links(ax):
    return next((c for c in ax.collections if isinstance(c, PathCollection)), None)


def strokes(ax):
    """How many links there are of each colour."""
    colors = [tuple(round(255 * v) for v in color[:3]) for color in links(ax).get_edgecolor()]
    return {"#{:02X}{:02X}{:02X}".format(*color): colors.count(color) for color in set(colors)}


def key(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def overlap(a, b, by=1e-6):
    return a[0] < b[2] - by and b[0] < a[2] - by and a[1] < b[3] - by and b[1] < a[3] - by


def assert_readable(ax, n):
    """Letters lie inside boxes, boxes lie apart, and no link meets a box but at its two ends."""
    ax.figure.canvas.draw()
    places = boxes(ax)
    assert len(places) == n
    assert not any(overlap(a, b) for a, b in itertools.combinations(places, 2))
    to_data = ax.transData.inverted()
    letters = [to_data.transform_bbox(text.get_window_extent()).extents for text in ax.texts]
    for x0, y0, x1, y1 in letters:
        assert any(b[0] <= x0 and b[1] <= y0 and x1 <= b[2] and y1 <= b[3] for b in places)
    assert not any(overlap(a, b, 0.5) for a, b in itertools.combinations(letters, 2))
    shrunk = np.add(places, (0.5, 0.5, -0.5, -0.5))
    for path in links(ax).get_paths() if links(ax) else []:
        points = path.interpolated(1).vertices if path.codes is None else flat(path)
        assert (np.diff(points[:, 1]) <= 1e-9).all()  # down
        x, y = points[:, :1], points[:, 1:]
        assert not ((x > shrunk[:, 0]) & (x < shrunk[:, 2]) & (y > shrunk[:, 1]) & (y < shrunk[:, 3])).any()


def flat(path):
    """Points along cubic curves, close together."""
    t = np.linspace(0, 1, 40)[:, None]
    parts = [path.vertices[:1]]
    for i in range(0, len(path.vertices) - 1, 3):
        a, b, c, d = path.vertices[i : i + 4]
        parts.append((1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d)
    return np.concatenate(parts)


# --- readable --------------------------------------------------------------------------------------------


@pytest.mark.skipif(not NETWORKS.is_dir(), reason="the published networks are not here")
@pytest.mark.parametrize("name", NAMES)
def test_published_networks_can_be_read(name):
    net = pgm.read(NETWORKS / f"{name}.bif.gz")
    ax = net.plot()
    assert_readable(ax, len(net))
    assert len(links(ax).get_paths()) == len(net.edges)


def test_many_names_are_outlines_within_their_boxes():
    net = pgm.BayesianNetwork()
    for i in range(310):
        net.add(f"node $number$ {i}", 0.5)
    net.add("字", 0.5)  # a letter that the font lacks stays with matplotlib, which looks for another font
    ax = net.plot()
    (names,) = [c for c in ax.collections if isinstance(c, PathCollection) and c.get_zorder() == 4]
    assert texts(ax) == ["字"]
    assert len(names.get_paths()) == 310
    around = np.array(boxes(ax))
    for path, at in zip(names.get_paths(), names.get_offsets(), strict=True):
        (left, low), (right, top) = path.get_extents().get_points() + at  # a unit of the picture is a point
        inside = (around[:, :2] < (left, low)).all(axis=1) & (around[:, 2:] > (right, top)).all(axis=1)
        assert inside.sum() == 1
        x0, y0, x1, y1 = around[inside][0]
        assert (left + right) / 2 == pytest.approx((x0 + x1) / 2, abs=1.0)
        assert (low + top) / 2 == pytest.approx((y0 + y1) / 2, abs=2.5)


@pytest.mark.parametrize("bold", [False, True])
def test_outlines_are_the_letters_that_matplotlib_draws(bold):
    text = Text(3.0, 2.0, "wide mm il", "left", 10.0, bold=bold)
    font = FontProperties(weight="bold" if bold else "normal")
    theirs = TextPath((0, 0), text.text, size=10.0, prop=font).get_extents()
    ours = {side: outlines(replace(text, side=side)).get_extents() for side in ("left", "center", "right")}
    for found in ours.values():
        assert (found.width, found.height) == pytest.approx((theirs.width, theirs.height), rel=0.02)
        assert found.y0 == pytest.approx(theirs.y0 - 3.65, abs=0.1)  # half a capital letter below the middle
    assert ours["left"].x0 == pytest.approx(theirs.x0, abs=0.1)
    assert (ours["center"].x0 + ours["center"].x1) / 2 == pytest.approx(0.0, abs=0.5)
    assert ours["right"].x1 == pytest.approx(0.0, abs=1.0)  # less what stands behind its last letter
    assert ours["center"].x0 == pytest.approx((ours["left"].x0 + ours["right"].x0) / 2, abs=1e-9)
    assert outlines(replace(text, text="   ")).vertices.size == 0
    assert outlines(replace(text, text="字")) is None


def test_cards_can_be_read():
    net = pgm.BayesianNetwork()
    long = "The concentration of carbon dioxide in the air that is exhaled"
    net.add(long, {i: 1 / 20 for i in range(20)})
    net.add("$x^2 < 1$", 0.3)
    net.add("a_name_of_sixty_letters_that_goes_on_without_any_spaces_at_all", 0.3, parents=[])
    net.add("child", {True: 0.1, False: 0.4}, parents=["$x^2 < 1$"])
    for ax in (net.plot(), net.plot(given={}), net.plot(given={"child": True})):
        assert_readable(ax, 4)
        assert "The concentration of" in texts(ax)  # several lines, nothing lost
        assert "is exhaled" in " ".join(texts(ax))
    shown = texts(net.plot(given={}))
    assert "13 others" in shown
    assert "65.0%" in shown


def test_letters_of_all_the_world_are_drawn():
    net = pgm.BayesianNetwork("数据")
    for name in ("数据观察", "שלום", "مرحبا", "é̈", "🙂", "<b>&amp;", "a\\b{c}_d^e", "%s"):
        net.add(name, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks
        assert_readable(net.plot(), 8)
        net.plot(given={"数据观察": True}).figure.canvas.draw()


def test_continuous_and_structured_nodes_are_told_apart(wet):
    selected = {True: pgm.LinearGaussian(bias=5.0, sd=1.0), False: pgm.LinearGaussian(bias=0.0, sd=1.0)}
    wet.add("amount", selected, parents=["rain"])
    wet.add("flood", pgm.NoisyOr({"rain": 0.3, "wet": 0.1}))
    ax = wet.plot()
    assert "noisy-OR" in texts(ax)
    assert len(boxes(ax)) == 7  # six nodes, and a second outline
    assert "2.5 ± 2.7" in texts(wet.plot(given={"rain": pgm.Soft({True: 0.5, False: 0.5})}))


# --- the same every time ---------------------------------------------------------------------------------


def test_the_same_picture_whatever_the_hash_seed():
    code = """if True:
        import io, random, pgm
        rnd = random.Random(3)
        arcs = "; ".join(f"v{rnd.randrange(i)} -> v{i}; v{rnd.randrange(i)} -> v{i}" for i in range(2, 40))
        net = pgm.BayesianNetwork(edges="; ".join(dict.fromkeys(arcs.split("; "))))
        ax = net.plot(plates={"some": ["v5", "v9"]}, paths=("v7", "v20"), given=["v9"])
        for collection in ax.collections:
            for path in collection.get_paths():
                print(path.vertices.tolist())
        print(collection.get_facecolor().tolist(), [(t.get_text(), t.get_position()) for t in ax.texts])
    """
    found = set()
    for seed in ("0", "1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
        found.add(hashlib.sha256(done.stdout).hexdigest())
        assert len(done.stdout) > 1_000
    assert len(found) == 1


# --- plates ----------------------------------------------------------------------------------------------


def test_plates_are_labelled_and_nested():
    net = pgm.BayesianNetwork(edges="alpha -> theta -> z -> w <- beta; eta -> beta; theta -> label")
    plates = {"words": ["z", "w"], "documents": ["theta", "z", "w", "label"], "topics": "beta"}
    ax = net.plot(plates=plates)
    assert set(plates) < set(texts(ax))
    frames = {p.get_gid(): p for p in ax.patches if (p.get_gid() or "").startswith("plate ")}
    assert set(frames) == {f"plate {label}" for label in plates}
    at = {text.get_text(): text.get_position() for text in ax.texts}
    for label, members in {**plates, "topics": ["beta"]}.items():
        frame = frames[f"plate {label}"].get_bbox()
        assert {name for name in net.nodes if frame.contains(*at[name])} == set(members)


def test_plates_that_cannot_be_are_refused(wet):
    with pytest.raises(pgm.UnknownVariable, match="Did you mean 'rain'"):
        wet.plot(plates={"days": ["rian"]})
    with pytest.raises(pgm.InvalidArgument, match="share some of their nodes, as 'rain'"):
        wet.plot(plates={"days": ["rain", "wet"], "gardens": ["rain", "sprinkler"]})
    with pytest.raises(pgm.InvalidArgument, match="'days' has no nodes"):
        wet.plot(plates={"days": []})
    with pytest.raises(pgm.InvalidArgument, match="plates= takes"):
        wet.plot(plates=["rain"])


# --- overlays --------------------------------------------------------------------------------------------


def test_paths_are_active_or_blocked(wet):
    ax = wet.plot(paths=("sprinkler", "rain"))
    assert strokes(ax) == {BLUE: 2, VERMILLION: 2}
    assert key(ax) == ["active path", "blocked path"]
    assert ax.get_title() == "sprinkler may depend on rain"
    ax = wet.plot(paths=("sprinkler", "rain"), given=["cloudy"])
    assert strokes(ax) == {VERMILLION: 4}
    assert ax.get_title() == "sprinkler is independent of rain given cloudy"
    ax = wet.plot(paths=("sprinkler", "rain"), given="wet")
    assert strokes(ax) == {BLUE: 4}
    assert key(ax) == ["active path", "given"]
    assert wet.plot(paths=("sprinkler", "rain"), given={"wet": True}).get_title().endswith("given wet")


def test_two_structures_are_compared(wet):
    other = pgm.BayesianNetwork("other", edges="cloudy -> rain; wet -> rain; wet -> cloudy; sprinkler -> wet")
    ax = wet.plot(compare=other)
    assert key(ax) == [
        "in both (2)",
        "extra: not in 'other' (1)",
        "reversed in 'other' (1)",
        "missing: only in 'other' (1)",
    ]
    found = strokes(ax)
    assert (found[BLUE], found[PURPLE], found[VERMILLION]) == (1, 1, 1)
    styles = {str(style) for style in links(ax).get_linestyle()}
    assert len(styles) == 3  # solid thin and thick, dotted, dash and dot
    (heads,) = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert len(heads.get_paths()) == 5
    # The missing arrow leads from wet to cloudy: up, against the order of the network that is drawn.
    tip, *rest = heads.get_paths()[-1].vertices[:3]
    assert all(tip[1] > point[1] for point in rest)
    assert key(wet.plot(compare=wet)) == ["in both (4)"]


def test_information_is_what_it_is_by_definition(wet):
    ax = wet.plot(information=True)
    widths = dict(zip(wet.edges, links(ax).get_linewidth(), strict=True))
    p = np.array(wet.query(["cloudy", "rain"]).values)
    by_hand = (p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum()
    assert max(widths, key=widths.get) == ("cloudy", "rain")
    assert f"mutual information {by_hand:.3g} nats" in key(ax)
    assert f"{wet.query('wet').entropy():.3g} nats" in texts(ax)
    ax = wet.plot(information=True, given={"cloudy": True})
    widths = dict(zip(wet.edges, links(ax).get_linewidth(), strict=True))
    assert "mutual information 0" in key(ax)
    assert widths["cloudy", "rain"] < widths["rain", "wet"]
    mrf = wet.to_markov_network()
    assert "entropy 0" in key(mrf.plot(information=True))


def test_options_without_effect_are_errors(wet):
    mrf = wet.to_markov_network()
    for match, net, options in (
        ("one of paths=, information=", wet, {"paths": ("rain", "wet"), "information": True}),
        ('information= belongs to kind="network"', wet, {"information": True, "kind": "moral"}),
        ('plates= belongs to kind="network" or "moral"', wet, {"plates": {}, "kind": "junction-tree"}),
        ("without given=", wet, {"engine": "loopy"}),
        ("without given=", mrf, {"engine": "loopy"}),
        ("takes two nodes", wet, {"paths": "rain"}),
        ("takes two nodes", wet, {"paths": ("rain", "rain")}),
        ("which is given", wet, {"paths": ("rain", "wet"), "given": ["wet"]}),
        ("no variable 'rian'", wet, {"paths": ("rian", "wet")}),
        ("no variable 'snow'", wet, {"paths": ("rain", "wet"), "given": ["snow"]}),
        ("another BayesianNetwork, not 'x'", wet, {"compare": "x"}),
        ("same nodes; one lacks 'cloudy', ", wet, {"compare": pgm.BayesianNetwork(edges="a -> b")}),
    ):
        with pytest.raises(pgm.PGMError, match=match):
            net.plot(**options)


# --- grids -----------------------------------------------------------------------------------------------


def test_a_large_grid_is_an_image():
    seen = (np.add.outer(np.arange(20), np.arange(30)) > 22).astype(int)
    grid = pgm.MarkovNetwork.grid(seen, states=[0, 1], coupling=0.5, unary=UNARY)
    (image,) = grid.plot().images
    dark = image.get_array().sum(axis=2) < 1.5
    assert (dark == (seen == 1)).all()  # each pixel by its own factor
    ax = grid.plot(given={"pixel[0,0]": 1}, engine="loopy")
    (image,) = ax.images
    assert image.get_array()[0, 0].sum() < 0.8
    assert "(approximate)" in ax.get_title()
    assert key(ax) == ["0", "1"]
    small = pgm.MarkovNetwork.grid(seen[:4, :4], states=[0, 1], coupling=0.5, unary=UNARY)
    assert len(boxes(small.plot())) == 16


def test_a_picture_fits_on_the_users_axes(wet):
    figure = Figure(figsize=(8, 4))
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    assert wet.plot(paths=("rain", "wet"), ax=left) is left
    assert wet.plot(information=True, ax=right) is right
    figure.canvas.draw()
    key_box = left.get_legend().get_window_extent()
    assert all(not key_box.overlaps(text.get_window_extent()) for text in left.texts)
