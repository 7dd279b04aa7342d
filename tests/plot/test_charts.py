"""Charts of results: what is drawn is what is known, and colours that the colour-blind can tell apart."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import pgm
from pgm import plot
from pgm.inference import engines
from pgm.plot.canvas import DARK_LINES, INK, STATES, readable_on
from pgm.results import Course, Distribution, RankedAssignments, Report
from tests.html_page import everything

# Machado, Oliveira & Fernandes (2009), table 1: the colours that someone sees who lacks one kind of cone.
SEEN = {
    name: np.reshape(numbers, (3, 3))
    for name, numbers in {
        "by all": [1, 0, 0, 0, 1, 0, 0, 0, 1],
        "without red": [
            *(0.152286, 1.052583, -0.204868),
            *(0.114503, 0.786281, 0.099216),
            *(-0.003882, -0.048116, 1.051998),
        ],
        "without green": [
            *(0.367322, 0.860646, -0.227968),
            *(0.280085, 0.672501, 0.047413),
            *(-0.011820, 0.042940, 0.968881),
        ],
        "without blue": [
            *(1.255528, -0.076749, -0.178779),
            *(-0.078411, 0.930809, 0.147602),
            *(0.004733, 0.691367, 0.303900),
        ],
    }.items()
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
APART, LINES_APART, LIGHTER = 30.0, 15.0, 20.0  # in CIELAB, of which 2.3 is just noticeable


def linear(color):
    c = np.array(to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(color, matrix):
    xyz = TO_XYZ @ np.clip(np.array(matrix) @ linear(color), 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a, b):
    light = [float(TO_XYZ[1] @ linear(color)) + 0.05 for color in (a, b)]
    return max(light) / min(light)


@pytest.mark.parametrize("eyes", SEEN)
def test_neighbouring_colours_can_be_told_apart(eyes):
    seen = [lab(color, SEEN[eyes]) for color in STATES]
    for a, b in pairwise([*seen, seen[0]]):
        assert np.linalg.norm(a - b) > APART
        assert abs(a[0] - b[0]) > LIGHTER  # also in print without colours
    for a, b in combinations([lab(color, SEEN[eyes]) for color in DARK_LINES], 2):
        assert np.linalg.norm(a - b) > LINES_APART


def test_letters_on_colours_can_be_read():
    for color in STATES:
        assert contrast(readable_on(to_rgb(color)), color) >= 4.5
    for color in DARK_LINES:
        assert contrast("white", color) >= 4.5
    for grey in np.linspace(0, 1, 50):
        other = INK if readable_on((grey,) * 3) == "white" else "white"
        assert contrast(readable_on((grey,) * 3), (grey,) * 3) >= contrast(other, (grey,) * 3) - 0.05


def net():
    return everything()["network"]


def drawn(ax):
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())


PLOTTED = [
    name for name, thing in everything().items() if hasattr(thing, "plot") and not name.startswith("large")
]


@pytest.mark.filterwarnings("ignore:Glyph")  # the letters of every language are not in every font
@pytest.mark.parametrize("name", PLOTTED)
def test_everything_that_can_be_drawn_is_drawn_and_no_title_leaves_its_picture(name):
    thing = everything()[name]
    if isinstance(thing, Report) and not (thing.residuals or thing.chains or thing.course):
        with pytest.raises(pgm.InvalidArgument, match="Nothing was recorded"):
            thing.plot()
        return
    ax = thing.plot()
    picture = drawn(ax)
    assert picture.shape[0] < 3000
    assert picture.shape[1] < 3000
    assert picture[..., :3].std() > 0 or name == "empty network"
    if "network" not in name and "tree" not in name:
        box, frame = ax.title.get_window_extent(), ax.figure.bbox
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
    figure = Figure(figsize=(5, 4))
    FigureCanvasAgg(figure)
    mine = figure.subplots()
    assert thing.plot(ax=mine) is mine
    drawn(mine)


@pytest.mark.parametrize("name", ["large marginals", "large plan", "large samples", "joint of a million"])
def test_large_answers_are_drawn_or_refused_quickly(name):
    assert drawn(everything()[name].plot())[..., :3].std() > 0


@pytest.mark.filterwarnings("ignore:Glyph")
def test_many_texts_are_written_as_outlines_where_they_belong():
    net = pgm.BayesianNetwork()
    for i in range(110):
        net.add(f"$v_{{{i}}}$" if i else "字", 0.25)
    ax = net.marginals().plot()
    assert [text.get_text() for text in ax.texts] == ["字"]  # a letter that the font lacks
    (written,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    assert len(written.get_paths()) == 109 + 220  # names, and both states of each
    assert set(np.asarray(written.get_offsets())[:, 1]) == set(range(37))  # the rows of three columns
    extents = [path.get_extents() for path in written.get_paths()]
    right_aligned = [e for e in extents if e.x1 < 1.0]
    centred = [e for e in extents if abs(e.x0 + e.x1) < 2.0]
    assert (len(right_aligned), len(centred)) == (109, 220)
    assert drawn(ax)[..., :3].std() > 0


# --- what the pictures say ---


def test_bars_have_the_intervals_of_an_approximate_answer():
    p = everything()["drawn distribution"]
    ax = p.plot()
    (lines,) = [c for c in ax.collections if hasattr(c, "get_segments")]
    ends = [(segment[0, 0], segment[1, 0]) for segment in lines.get_segments()]
    assert np.allclose(ends, np.stack([p.report.intervals.low, p.report.intervals.high], axis=-1))
    assert ax.get_title() == "P(rain | wet=True)\napproximate: gibbs"


def test_a_map_has_the_numbers_of_the_joint():
    p = everything()["joint"]
    ax = p.plot()
    assert np.array_equal(ax.images[0].get_array(), p.values)
    assert {text.get_text() for text in ax.texts} == {f"{x:.3g}" for x in p.values.flat}


def test_a_density_is_drawn_to_scale():
    ax = everything()["mixture"].plot()
    x, y = ax.collections[0].get_paths()[0].vertices.T
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2  # the shoelace formula
    assert area == pytest.approx(1.0, abs=2e-3)


def test_a_number_with_a_probability_of_its_own_is_a_stem():
    model = pgm.BayesianNetwork()
    model.add("k", {"a": 0.25, "b": 0.75})
    parts = {"a": pgm.LinearGaussian(bias=2, sd=0), "b": pgm.LinearGaussian(bias=0, sd=1)}
    model.add("x", parts, parents=["k"])
    ax = model.query("x").plot()
    stems = ax.figure.axes[1]
    assert stems.lines[0].get_xydata().tolist() == [[2.0, 0.25]]
    assert stems.get_ylabel() == "probability"
    x, y = ax.collections[0].get_paths()[0].vertices.T
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
    assert area == pytest.approx(0.75, abs=2e-3)
    alone = model.query("x", {"k": "a"}).plot()
    assert alone.lines[0].get_xydata().tolist() == [[2.0, 1.0]]
    assert len(alone.figure.axes) == 1


def test_two_numbers_that_follow_from_each_other_are_a_line():
    model = pgm.BayesianNetwork()
    model.add("x", pgm.LinearGaussian(bias=1, sd=2))
    model.add("y", pgm.LinearGaussian({"x": 3.0}, bias=0, sd=0))
    ax = model.query(["x", "y"]).plot()
    x, y = ax.lines[0].get_xydata().T
    assert np.allclose(y, 3 * x)
    assert np.allclose(sorted(x), [1 - 4, 1 + 4])  # two standard deviations either way
    assert not ax.images


def test_contours_hold_the_shares_that_they_stand_for():
    ax = everything()["joint density"].plot()
    z = np.asarray(ax.images[0].get_array())
    levels = next(c for c in ax.collections if hasattr(c, "levels")).levels
    shares = [z[z >= level].sum() / z.sum() for level in levels]
    assert np.allclose(shares, [0.95, 0.8, 0.5], atol=0.01)


def test_three_numbers_are_too_many():
    numbers = pgm.BayesianNetwork()
    for name in "abc":
        numbers.add(name, pgm.LinearGaussian(bias=0, sd=1))
    with pytest.raises(pgm.InvalidArgument, match=r"one variable or two.*p\.marginal"):
        numbers.query(["a", "b", "c"]).plot()


def test_residuals_are_drawn_as_they_were():
    ax = Report("loopy", exact=False, residuals=(1.0, 0.1, 0.0)).plot()
    assert ax.lines[0].get_xydata().tolist() == [[1, 1.0], [2, 0.1]]
    assert ax.get_yscale() == "log"
    assert [text.get_text() for text in ax.texts] == ["0"]


def test_chains_are_drawn_with_their_shares():
    report = everything()["report of draws"]
    ax = report.plot()
    states = report.chains["rain"]
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2]
    assert len(lines) == len(states) == 4
    bottom, top = 0.36, 0.82
    for line, chain in zip(lines, states, strict=True):
        assert line.get_ydata()[-1] == pytest.approx(bottom + (top - bottom) * (chain == 1).mean())
    assert f"R-hat {report.r_hat:.3f}" in ax.get_title()


def test_a_mean_field_notes_how_its_bound_rose():
    report = net().marginals({"wet": True}, engine="mean-field").report
    course = report.course
    assert len(course.at) == report.iterations
    assert all(a <= b + 1e-9 for a, b in pairwise(course.least))
    assert course.least[-1] == pytest.approx(report.log_bounds[0], abs=1e-9)
    assert course.least[-1] <= float(net().log_probability({"wet": True}))
    assert np.array_equal(report.plot().lines[0].get_ydata(), course.least)


def test_a_search_notes_what_it_knew_when():
    rng = np.random.default_rng(0)
    mrf = pgm.MarkovNetwork()
    for i in range(12):
        mrf.add_variable(f"v{i}", states=[0, 1, 2])
    for i, j in combinations(range(12), 2):
        mrf.add_factor([f"v{i}", f"v{j}"], rng.normal(size=(3, 3)), log=True)
    given = {"v0": pgm.Likelihood({0: 0.5, 1: 0.2, 2: 0.1})}
    best = mrf.map(given, engine=engines.BranchAndBound())
    course = best.report.course
    assert course.unit == "seconds"
    assert list(course.at) == sorted(course.at)
    assert all(low <= high for low, high in zip(course.least, course.most, strict=True))
    assert course.least[-1] == pytest.approx(best.log_joint, abs=1e-6)
    assert course.most[-1] == pytest.approx(best.bound, abs=1e-6)
    assert best.log_joint == pytest.approx(mrf.map(given, engine="exact").log_joint)
    drawn(best.report.plot())


def test_a_course_is_drawn_between_its_ends():
    course = Course("seconds", (0.1, 0.5, 2.0), (-np.inf, -9.0, -7.0), (-1.0, -5.0, -7.0))
    ax = Report("branch-and-bound", exact=True, course=course).plot()
    most, least = (line.get_xydata().tolist() for line in ax.lines)
    assert most == [[0.1, -1.0], [0.5, -5.0], [2.0, -7.0]]
    assert least == [[0.5, -9.0], [2.0, -7.0]]


def test_a_plan_shows_the_largest_tables():
    found = everything()["plan"]
    ax = found.plot()
    tallest = max(bar.get_height() for bar in ax.patches)
    assert 10**tallest == pytest.approx(found.largest_entries)
    assert len(found.log2_cliques) >= 1
    assert sum(2.0**size for size in found.log2_cliques) == pytest.approx(found.entries)


def test_samples_are_drawn_as_shares():
    cases = net().sample(500, seed=0)
    ax = cases.plot("rain")
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        [1 - cases["rain"].mean(), cases["rain"].mean()]
    )
    assert f"True {cases['rain'].mean():.2f}" in [text.get_text() for text in cases.plot().texts]
    with pytest.raises(pgm.UnknownVariable, match="rainn"):
        cases.plot("rainn")
    numbers = everything()["mixed samples"]
    assert len(numbers["x"]) == 5
    many = pgm.Samples({"x": np.random.default_rng(0).normal(size=1000)})
    assert sum(bar.get_height() for bar in many.plot("x").patches) == 1000


def test_explanations_show_where_they_differ():
    best = net().k_best({"wet": True}, k=3)
    assert isinstance(best, list)
    assert isinstance(best, RankedAssignments)
    ax = best.plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([one.probability for one in best])
    first = f"cloudy={best[0]['cloudy']}, sprinkler={best[0]['sprinkler']}, rain={best[0]['rain']}"
    assert ax.get_yticklabels()[0].get_text() == first


def test_a_junction_tree_draws_itself():
    tree = net().junction_tree()
    assert len(tree.plot().texts) == len(plot.network(net(), kind="junction-tree").texts)


def test_names_are_never_formulas():
    odd = pgm.Variable("$x$", ["$a$", "<b>", "x" * 100])
    ax = Distribution((odd,), np.array([0.2, 0.3, 0.5])).plot()
    assert ax.get_title() == r"P(\$x\$)"
    assert len(ax.get_yticklabels()[2].get_text()) <= 24
    drawn(ax)
