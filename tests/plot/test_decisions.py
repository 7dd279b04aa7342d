"""Influence diagrams and rules as pictures: what is drawn is what is known."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyBboxPatch, Polygon

import pgm
from tests.models.test_influence_diagram import clinic, oil


def words(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_each_kind_of_node_has_its_shape() -> None:
    ax = oil().plot()
    assert sum(type(artist) is Polygon for artist in ax.get_children()) == 2  # utilities
    round_ = [a for a in ax.get_children() if isinstance(a, FancyBboxPatch)]
    corners = sorted(a.get_boxstyle().rounding_size for a in round_)
    assert corners == [0.01, 0.01, 5.0, 5.0]  # decisions are square
    assert {"oil", "test?", "report", "drill", "profit", "cost"} <= set(words(ax))


def test_what_actions_are_worth_stands_in_the_picture() -> None:
    ax = oil().plot(given={})
    assert {"20", "22.5", "32.5", "-10", "41.0%", "50.0%"} <= set(words(ax))
    assert ax.get_title() == "oil wildcatter: expected utility 22.5"
    after = clinic().plot(given={"test": True})
    assert {"-33.333", "13.333"} <= set(words(after))


def test_a_rule_is_a_table_of_actions() -> None:
    ax = oil().solve().plot()
    assert words(ax).count("yes") == 3
    assert words(ax).count("no") == 1
    assert words(ax).count("-") == 4
    assert ax.get_title().replace("\n", " ") == "what to do at drill"
    rows = [tick.get_text() for tick in ax.get_yticklabels()]
    assert rows[0] == "test?=no, report=no test"
    assert rows[-1] == "test?=yes, report=closed"


def test_values_of_information_are_bars() -> None:
    d = clinic()
    d.add_chance("weather", 0.5)
    ax = d.value_of_information(before="treat").plot()
    assert [round(bar.get_width(), 6) for bar in ax.patches] == [5.4, 0.0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["disease", "weather"]


def test_too_many_cases_are_refused() -> None:
    d = pgm.InfluenceDiagram()
    for i in range(13):
        d.add_chance(f"x{i}", 0.5)
    d.add_decision("go", [0, 1], observes=[f"x{i}" for i in range(13)])
    d.add_chance("many", pgm.AtLeast(7, [f"x{i}" for i in range(13)]))
    d.add_utility("u", {(True, 1): 1, (False, 1): -1, ...: 0}, parents=["many", "go"])
    with pytest.raises(pgm.InvalidArgument, match="8,192 cases"):
        d.solve().plot()


def test_risk_is_drawn_as_steps() -> None:
    d = oil()
    ax = d.solve().risk().plot({"no test": d.solve({"test?": "no"}).risk()}, label="test")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["test", "no test"]
    steps = [line for line in ax.lines if len(line.get_xdata()) > 1]
    assert steps[0].get_ydata().tolist() == pytest.approx([0, 0.2, 0.61, 0.82, 1.0, 1.0])


def test_a_strategy_is_a_tree_of_what_is_seen_and_done() -> None:
    ax = oil().solve().strategy().plot()
    assert {"-10", "45.085", "report", "test?: yes", "drill: no", "drill: yes"} <= set(words(ax))
    assert {"none 0.41", "open or closed 0.59"} <= set(words(ax))


def test_a_tornado_has_a_bar_for_each_number() -> None:
    found = clinic().sensitivity()
    ax = found.plot()
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == list(found)
    ends = {round(bar.get_x() + bar.get_width(), 6) for bar in ax.patches}
    assert {round(one.at_low, 6) for one in found.values()} <= ends


def test_tornadoes_have_the_same_colours() -> None:
    """Lower and higher mean the same for answers and for policies; the bars wear what the legend says."""

    def colours(ax):
        legend = ax.get_legend()
        faces = [patch.get_facecolor() for patch in legend.get_patches()]
        return dict(zip([text.get_text() for text in legend.get_texts()], faces, strict=True))

    found = clinic().sensitivity()
    ax = found.plot()
    said = colours(ax)
    assert said == colours(pgm.load_network("asia").sensitivity("lung", {"xray": "yes"}).plot())
    first = next(iter(found.values()))
    ends = {bar.get_facecolor(): bar.get_x() + bar.get_width() for bar in ax.patches[:2]}
    assert ends[said["parameter lower"]] == pytest.approx(first.at_low)
    assert ends[said["parameter higher"]] == pytest.approx(first.at_high)


def test_actions_are_lines_by_one_number_and_regions_by_two() -> None:
    first, second = ("disease", {"disease": True}), ("test", {"disease": True, "test": True})
    ax = clinic().sensitivity(first).plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["the best policy", "treat: False", "treat: True"]
    assert ax.get_xlabel() == "P(disease=True)"
    found = clinic().sensitivity(first, second)
    ax = found.plot()
    assert len(ax.get_legend().get_texts()) == len(found.policies) == 4
    assert ax.images[0].get_array().shape == (21, 21, 3)
