"""Pictures and pyplot: shown, saved and styled as those of other libraries, once, and none too many."""

from __future__ import annotations

import gc
import inspect
import io
import os
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

import pgm
from pgm import plot
from pgm.plot.canvas import text_width
from tests.plot import screen
from tests.test_docstrings import PICTURES as EVERY

pytestmark = pytest.mark.filterwarnings("ignore::pgm.ConvergenceWarning")


def wet_grass(name: str = "wet grass") -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork(name)
    net.add("cloudy", 0.5)
    net.add("sprinkler", {True: 0.1, False: 0.5}, parents=["cloudy"])
    net.add("rain", {True: 0.8, False: 0.1}, parents=["cloudy"])
    rows = {(True, True): 0.95, (True, False): 0.90, (False, True): 0.90, (False, False): 0.10}
    net.add("wet", rows, parents=["rain", "sprinkler"])
    return net


def numbers() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("s", 0.3)
    net.add(
        "x",
        {True: pgm.LinearGaussian({}, bias=1.0, sd=0.0), False: pgm.LinearGaussian({}, bias=-3.0, sd=0.5)},
        parents=["s"],
    )
    net.add("y", pgm.LinearGaussian({"x": 2.0}, bias=1.0, sd=1.0))
    return net


NET, NUMBERS, WET = wet_grass(), numbers(), {"wet": True}
NOISY = (np.random.default_rng(0).random((14, 14)) < 0.4).astype(int)
GRID = pgm.MarkovNetwork.grid(NOISY, states=[0, 1], coupling=1.2, unary=[[0.9, 0.1], [0.1, 0.9]])
LONG = pgm.BayesianNetwork()
LONG.add("n", np.arange(1.0, 61.0) / 1830.0, states=range(60))
LONG.add("m", {...: np.ones(20) / 20}, parents=["n"], states=range(20))
GIBBS = pgm.engines.Gibbs(samples=400, burn_in=10, trace=["rain", "sprinkler"])

PICTURES: dict[str, Callable[..., Axes]] = {
    "network": NET.plot,
    "posteriors": lambda **options: NET.plot(given=WET, **options),
    "paths": lambda **options: NET.plot(paths=("sprinkler", "rain"), given=["cloudy", "wet"], **options),
    "compared": lambda **options: NET.plot(
        compare=pgm.BayesianNetwork(edges="cloudy -> rain -> wet; rain -> sprinkler"), **options
    ),
    "information": lambda **options: NET.plot(information=True, **options),
    "plates": lambda **options: NET.plot(plates={"weather": ["cloudy", "rain"]}, **options),
    "moral": lambda **options: NET.plot(kind="moral", **options),
    "factor graph": lambda **options: NET.plot(kind="factor-graph", **options),
    "junction tree": NET.junction_tree().plot,
    "undirected": NET.to_markov_network().plot,
    "pixels": GRID.plot,
    "bars": NET.query("rain", WET).plot,
    "bars with intervals": NET.query("rain", WET, engine=GIBBS).plot,
    "profile": LONG.query("n").plot,
    "heat map": NET.query(["rain", "sprinkler"], WET).plot,
    "large heat map": LONG.query(["n", "m"]).plot,
    "density": NUMBERS.query("x").plot,
    "two densities": NUMBERS.query(["x", "y"]).plot,
    "marginals": NET.marginals(WET).plot,
    "marginals with intervals": NET.marginals(WET, engine=pgm.engines.Importance(samples=500)).plot,
    "states": NET.map(WET).plot,
    "image": GRID.map().plot,
    "explanations": NET.k_best(WET, k=4).plot,
    "plan": NET.plan("rain", WET).plot,
    "messages": NET.query("rain", WET, engine="loopy").report.plot,
    "course": NET.marginals(WET, engine="mean-field").report.plot,
    "chains": NET.query("rain", WET, engine=GIBBS).report.plot,
    "samples": NET.sample(100, seed=0).plot,
    "histogram": lambda **options: NUMBERS.sample(100, seed=0).plot("y", **options),
}
every_picture = pytest.mark.parametrize("draw", PICTURES.values(), ids=list(PICTURES))


@pytest.fixture(autouse=True)
def closed():
    """No figures of others, before and after."""
    plt.switch_backend("agg")
    plt.close("all")
    yield
    plt.ioff()
    plt.close("all")
    plt.switch_backend("agg")


@pytest.fixture
def shown():
    """What plt.show() showed, on a screen that is a list."""
    plt.switch_backend("module://tests.plot.screen")
    screen.shown.clear()
    return screen.shown


# --- shown, saved, changed -------------------------------------------------------------------------------


def test_show_shows_what_was_drawn(shown):
    first, second = NET.plot(), NET.query("rain").plot()
    plt.show()
    assert shown == [first.figure, second.figure]


@every_picture
def test_pyplot_reaches_every_picture(draw):
    ax = draw()
    assert plt.gca() is ax
    assert plt.gcf() is ax.figure
    plt.title("of mine")
    assert ax.get_title() == "of mine"
    saved = io.BytesIO()
    plt.savefig(saved, format="png", dpi=100)
    saved.seek(0)
    image = plt.imread(saved)
    assert image.shape[:2] == pytest.approx(100 * ax.figure.get_size_inches()[::-1], abs=1)
    assert image[..., :3].std() > 0


@every_picture
def test_axes_size_and_title_are_taken(draw):
    ax = draw(figsize=(5, 3.5), title="of $mine$")
    assert ax.figure.get_size_inches().tolist() == [5.0, 3.5]
    assert ax.get_title() == r"of \$mine\$"  # as it is: no formula
    assert is_whole(ax.title)
    assert draw(title="").get_title() == ""
    figure, (left, right) = plt.subplots(1, 2)
    assert draw(ax=right, title="right") is right
    assert (left.get_title(), right.get_title()) == ("", "right")
    assert figure.get_size_inches().tolist() == plt.rcParams["figure.figsize"]


def test_a_picture_without_a_name_keeps_the_title_of_its_axes():
    _, ax = plt.subplots()
    ax.set_title("mine")
    assert wet_grass("").plot(ax=ax).get_title() == "mine"
    assert wet_grass("").plot(ax=ax, title="").get_title() == ""


@every_picture
def test_what_is_not_taken_is_refused(draw):
    with pytest.raises(pgm.PGMError, match=r"plot\(\) has no tilte=; it takes .*figsize=, title=.*'title'"):
        draw(tilte="x")
    for size in (3, "large", (1,), (1, 2, 3), (0, 1), (1, -1), (np.nan, 1), (1e9, 1), ("a", "b")):
        with pytest.raises(
            pgm.PGMError, match=r"figsize= takes width and height in inches, as \(6, 4\), not"
        ):
            draw(figsize=size)
    figure, ax = plt.subplots()
    with pytest.raises(pgm.PGMError, match="figsize= is the size of a new figure"):
        draw(ax=ax, figsize=(3, 3))
    with pytest.raises(pgm.PGMError, match="ax= takes matplotlib Axes"):
        draw(ax=figure)
    assert plt.get_fignums() == [figure.number]  # no empty one is left


def test_options_of_a_network_are_near_theirs():
    with pytest.raises(
        pgm.PGMError, match=r"plot\(\) has no plate=; it takes given=, .*ax=, .* Did you mean 'plates'"
    ):
        NET.plot(plate={"a": ["rain"]})  # type: ignore[arg-type]
    with pytest.raises(pgm.PGMError, match=r"plot\(\) has no evidence=; what is known is .*given="):
        NET.plot(evidence=WET)  # type: ignore[arg-type]


def is_whole(text: Text) -> bool:
    """Whether it lies within its figure."""
    figure = text.get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    ends, whole = text.get_window_extent(), figure.bbox
    return ends.y1 <= whole.y1 + 1 and ends.x0 >= whole.x0 - 1 and ends.x1 <= whole.x1 + 1


@pytest.mark.parametrize("label", ["a title", "one of\ntwo lines", "x\ny\nz"])
def test_a_later_title_has_room(label):
    ax = wet_grass("").plot()
    height = ax.figure.get_figheight()
    boxes = ax.get_window_extent().height
    plt.title(label)
    assert is_whole(ax.title)
    assert ax.figure.get_figheight() > height
    assert ax.get_window_extent().height == pytest.approx(boxes)  # nothing else moved
    plt.title("")
    plt.title(label)
    grown = ax.figure.get_figheight()
    plt.title("short")
    assert ax.figure.get_figheight() == grown


# --- none too many ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["agg", "module://tests.plot.screen"])
def test_a_hundred_pictures_neither_warn_nor_stay(backend):
    plt.switch_backend(backend)
    mine = plt.figure()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = [weakref.ref(NET.plot().figure)]
        for _ in range(100):
            figures.append(weakref.ref(NET.query("rain").plot().figure))
            assert plt.gcf() is figures[-1]()
        plt.subplots()  # the user's own find room
    assert len(plt.get_fignums()) == 12
    assert mine.number in plt.get_fignums()  # what others made is theirs to close
    gc.collect()
    assert [figure() is not None for figure in figures] == [False] * 91 + [True] * 10
    plt.close("all")
    gc.collect()
    assert not any(figure() for figure in figures)


def test_a_picture_that_gave_way_can_still_be_saved():
    first = NET.plot()
    for _ in range(25):
        NET.query("rain").plot()
    assert first.figure.number not in plt.get_fignums()
    first.figure.savefig(io.BytesIO())


def test_how_many_stay_is_what_pyplot_says():
    with rc_context({"figure.max_open_warning": 6}):
        for _ in range(10):
            NET.query("rain").plot()
    assert len(plt.get_fignums()) == 3
    with rc_context({"figure.max_open_warning": 1}):
        last = NET.query("rain").plot()
        assert plt.get_fignums() == [last.figure.number]
    plt.close("all")
    with rc_context({"figure.max_open_warning": 0}):  # whoever wants no limit has none
        for _ in range(30):
            NET.query("rain").plot()
    assert len(plt.get_fignums()) == 30


def test_figures_of_others_are_left_alone():
    with rc_context({"figure.max_open_warning": 0}):
        others = [plt.figure() for _ in range(25)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            NET.query("rain").plot()
    assert [figure for figure in others if figure.number in plt.get_fignums()] == others
    assert len(plt.get_fignums()) == 26


def test_drawing_that_fails_leaves_no_figure(monkeypatch):
    monkeypatch.setattr("pgm.plot.drawing._draw_links", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        NET.plot()
    assert not plt.get_fignums()


def test_other_threads_leave_pyplot_alone():
    drawn: list[Axes] = []
    thread = threading.Thread(target=lambda: drawn.append(NET.plot()))
    thread.start()
    thread.join()
    drawn[0].figure.savefig(io.BytesIO())
    assert not plt.get_fignums()


# --- notebooks -------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_picture_once(shown):
    """Where pyplot shows what is open when a cell ends, the answer of the cell is not a second picture."""
    plt.ion()
    ax = NET.plot()
    assert ax._repr_png_() is None
    plt.close(ax.figure)  # the cell has ended: pyplot has shown it, and forgot it
    NET.query("rain").plot()
    assert ax._repr_png_().startswith(b"\x89PNG")
    plt.ioff()  # pyplot waits for plt.show()
    assert NET.plot()._repr_png_().startswith(b"\x89PNG")


def test_where_pyplot_shows_nothing_the_axes_do():
    plt.ion()
    assert NET.plot()._repr_png_().startswith(b"\x89PNG")


# --- no screen -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["tkagg", "qtagg", "webagg", "module://no_such_module", ""])
def test_no_screen_is_needed(backend, tmp_path):
    code = """if True:
        import matplotlib.pyplot as plt, pgm, warnings
        warnings.simplefilter("error")
        net = pgm.BayesianNetwork(edges="a -> b")
        net.set("a", 0.2); net.set("b", {True: 0.1, False: 0.2})
        net.plot().figure.savefig("a.png")
        net.query("a").plot().figure.savefig("b.png")
    """
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    environment |= {"PYTHONPATH": ":".join(sys.path)} | ({"MPLBACKEND": backend} if backend else {})
    if not backend:
        environment.pop("MPLBACKEND", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "b.png"}


# --- styles ----------------------------------------------------------------------------------------------


def luminance(color: object) -> float:
    """Relative luminance (WCAG 2.1)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)[:3]]
    return float(np.dot([0.2126, 0.7152, 0.0722], parts))


def contrast(a: object, b: object) -> float:
    """Of two colours, from 1 to 21 (WCAG 2.1)."""
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


def written(ax: Axes) -> list[Text]:
    found = [text for text in ax.figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    ends = [(text, text.get_window_extent()) for text in found]
    whole = ax.figure.bbox  # without ticks that are beyond the ends
    return [text for text, end in ends if end.width > 1 and whole.contains(end.x0 + 1, end.y0 + 1)]


def pixels(ax: Axes) -> np.ndarray:
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())[..., :3] / 255.0


@pytest.mark.parametrize("style", ["default", "dark_background", "ggplot"])
@every_picture
def test_text_is_readable_in_every_style(draw, style):
    with plt.style.context(style):
        ax = draw()
        pixels(ax)
        texts = written(ax)
        boxes = [text.get_window_extent() for text in texts]
        colors = [to_rgb(text.get_color()) for text in texts]
        for text in texts:
            text.set_alpha(0.0)
        behind = pixels(ax)
    high, wide, _ = behind.shape
    for text, box, color in zip(texts, boxes, colors, strict=True):
        rows = slice(max(0, int(high - box.y1)), max(1, int(high - box.y0)))
        columns = slice(max(0, int(box.x0)), min(wide, int(box.x1) + 1))
        ground = np.median(behind[rows, columns].reshape(-1, 3), axis=0)
        assert contrast(color, ground) > 3.0, (text.get_text(), color, ground)


@pytest.mark.parametrize("style", ["default", "dark_background"])
@every_picture
def test_what_is_drawn_can_be_told_from_the_ground(draw, style):
    with plt.style.context(style):
        ax = draw()
        ground = ax.figure.get_facecolor()
        drawn = FancyBboxPatch, PathCollection, PolyCollection
        for artist in ax.figure.findobj(lambda one: isinstance(one, drawn)):
            edges = np.atleast_2d(artist.get_edgecolor())
            faces = np.atleast_2d(artist.get_facecolor())
            colors = [color for color in (*edges, *faces) if color.size and color[-1] > 0.5]
            if isinstance(artist, PolyCollection) and artist.get_zorder() == 3:
                continue  # bars in boxes, on the ground of these
            assert max(contrast(color, ground) for color in colors) > 1.5
        for line in ax.get_lines():
            if len(line.get_xdata()) > 2:  # the others part what they lie on
                assert contrast(line.get_color(), ground) > 1.5


def test_bars_take_their_room_by_the_font_of_the_style():
    wide = text_width("a long name of a state", 10.0)
    with rc_context({"font.family": "monospace"}):
        assert text_width("a long name of a state", 10.0) > 1.1 * wide
    assert text_width("a long name of a state", 10.0) == wide


def test_heat_maps_have_no_grid():
    with plt.style.context("ggplot"):
        ax = NET.query(["rain", "sprinkler"]).plot()
        assert ax.findobj(AxesImage)
        assert not any(line.get_visible() for line in (*ax.get_xgridlines(), *ax.get_ygridlines()))


def test_functions_take_what_methods_take():
    assert plot.network(NET, title="mine", figsize=(4, 3)).get_title() == "mine"
    assert plot.samples(NET.sample(5, seed=0), "rain", title="mine").get_title() == "mine"


@pytest.mark.parametrize(
    "draw",
    [
        pgm.priors.Beta(2.0, 3.0).plot,
        pgm.priors.Normal(0.0, 1.0).plot,
        pgm.part_of("a", pgm.Categorical([[0.9, 0.1], [0.5, 0.5]])).plot,
        pgm.HMM([1.0, 0.0], [[0.9, 0.1], [0.0, 1.0]], pgm.Gaussian([0.0, 1.0], sd=[1.0, 1.0])).plot,
        pgm.CausalGraph("x -> y").identify("y", do=["x"]).plot,
    ],
    ids=["table", "curve", "parts", "chain", "effect"],
)
def test_an_empty_title_is_none(draw):
    assert draw().get_title()
    assert draw(title="").get_title() == ""


@pytest.mark.parametrize("name", EVERY)
def test_every_picture_takes_axes_size_and_title(name):
    taken = inspect.signature(EVERY[name]).parameters
    assert [taken[each].default for each in ("ax", "figsize", "title")] == [None] * 3
