"""Everything prints: short in a terminal, safe and readable in a notebook, whatever its names and size."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgm
from pgm.printing import (
    COLUMNS,
    WIDTH,
    Share,
    html_facts,
    html_table,
    html_text,
    joined,
    text_facts,
    text_table,
)
from tests.html_page import everything, page

WITHOUT_HTML = re.compile(
    r"engine .*|bins|interval|one of|not|likelihood|soft|variable|many states|domain|value of .*"
)
VALUES = re.compile(rf"{WITHOUT_HTML.pattern}|continuous|config|profile|potentials|loose .*")
ALLOWED = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "pre"}
LEAST_CONTRAST = 4.5  # of text with what is behind it: WCAG 2.1, level AA


class Checker(HTMLParser):
    """Notes what is wrong with a piece of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED or {name for name, _ in attrs} - {"style"}:
            self.wrong.append(f"<{tag} {attrs}>")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(html: str) -> list[str]:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.wrong
    assert not checker.open
    return checker.text


def test_one_of_every_public_class_is_here() -> None:
    made = {cls.__name__ for thing in everything().values() for cls in type(thing).__mro__}
    public = {
        value.__name__  # FactorGraph is another name of MarkovNetwork
        for name in pgm.__all__
        if isinstance(value := getattr(pgm, name), type) and not issubclass(value, Exception)
    }
    assert public - made == set()


@pytest.mark.parametrize("name", everything())
def test_it_is_short_in_a_terminal(name: str) -> None:
    thing = everything()[name]
    # print(report) is one line, which goes where it ends; print(trace) is all of a trace.
    for text in (repr(thing),) if name.startswith(("trace", "report")) else (repr(thing), str(thing)):
        lines = text.split("\n")
        assert len(lines) <= 40
        assert "\t" not in text
        if VALUES.fullmatch(name):
            assert len(text) <= 450
        else:
            assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("name", [name for name in everything() if not VALUES.fullmatch(name)])
def test_its_html_is_small_well_formed_and_escaped(name: str) -> None:
    html = everything()[name]._repr_html_()  # type: ignore[attr-defined]
    assert len(html) < 50_000
    assert "".join(checked(html)).strip()


def test_what_is_left_out_is_said() -> None:
    things = everything()
    for name, said in {
        "large network": "1,011 more of 1,041 rows",
        "large marginals": "1,021 more of 1,041 variables",
        "large map": "1,021 more of 1,041 variables",
        "large samples": "more of 1,041 columns",
        "joint of a million": "999,980 more of 1,000,000 rows",
        "table of a million": "more of 1,001 columns",
        "large grid map": "89,980 more of 90,000 variables",
        "large junction tree": "more of 1,039 cliques",
        "trace of 10,000": "9,980 more of 10,000 rows",
        "large k best": "30 more of 50 explanations",
        "large variables": "1,021 more of 1,041 variables",
    }.items():
        assert said in str(things[name]) or name == "trace of 10,000", name
        assert said in repr(things[name]) or name in ("large network", "large junction tree"), name
        assert said in things[name]._repr_html_(), name  # type: ignore[attr-defined]


def test_answers_say_what_was_given() -> None:
    things = everything()
    assert repr(things["distribution"]).splitlines()[0].split(maxsplit=1)[1] == "P(rain | wet=True)"
    for name in ("joint", "marginals", "map", "k best", "samples", "drawn marginals", "mixed marginals"):
        given = "kind=a" if name.startswith("mixed") else "wet=True"
        assert f"given {given}" in repr(things[name]), name
    assert "given kind=a" in repr(things["joint density"])
    assert things["moments"].given == {"on": True}  # type: ignore[attr-defined]
    assert things["bounded distribution"].given == {"wet": True}  # type: ignore[attr-defined]


# --- tables ---

CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=5), CELLS)
def test_any_text_comes_back_from_the_html(rows: list[list[str]], note: str) -> None:
    rows = [[" ".join(cell.split()) for cell in row] for row in rows]
    html = html_table(["a", "b", "c"], rows, title="<t>")
    found = checked(html)
    wanted = ["<t>", "a", "b", "c", *(cell for row in rows for cell in row)]
    assert "".join(found).replace("\r", "").replace("\x00", "�") == "".join(wanted).replace("\x00", "�") or (
        "\x00" in "".join(wanted) or "\r" in "".join(wanted)
    )
    checked(html_text(note))
    checked(html_facts([(note, note)]))


def test_a_wide_table_keeps_its_first_columns_and_the_last() -> None:
    header = [f"column {i}" for i in range(50)]
    first = text_table(header, [[str(i) for i in range(50)]]).splitlines()
    assert max(map(len, first)) <= WIDTH
    assert first[0].startswith("column 0")
    assert first[0].endswith("...  column 49")
    assert first[1].split()[-1] == "49"
    shown = first[0].count("column")
    assert first[2] == f"... {50 - shown:,} more of 50 columns"
    assert html_table(header, []).count("<th ") == COLUMNS


def test_a_bar_is_as_long_as_its_share() -> None:
    html = html_table(["P"], [[Share(0.25)], [Share(0.0)], [Share(1.0)]])
    assert re.findall(r"transparent ([\d.]+)%", html) == ["25", "100"]


def test_long_facts_go_on_below() -> None:
    lines = text_facts([("name", "word " * 50), ("other", "x")]).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    assert [line[:14].strip() for line in lines] == ["name", "", "", "other"]


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=30), st.integers(20, 60))
def test_joined_keeps_to_its_room_or_to_one_word(words: list[str], room: int) -> None:
    text = joined(words, len(words), room)
    kept = text.split(", ... (")[0].split(", ")
    assert kept == words[: len(kept)]
    assert len(text) <= room or len(kept) == 1
    assert ("... (" in text) == (len(kept) < len(words))


# --- a browser ---

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MEASURE = """<script>
const light = c => { const f = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const over = (top, below) => { const a = top.length > 3 ? top[3] : 1;
  return below.map((v, i) => a * top[i] + (1 - a) * v); };
const behind = node => { if (!node || node.nodeType !== 1) return [[255, 255, 255]];
  const style = getComputedStyle(node);
  const plain = behind(node.parentNode).map(c => over(numbers(style.backgroundColor), c));
  const bar = /^linear-gradient\\([^,]*, (rgba?\\([^)]*\\))/.exec(style.backgroundImage);
  return bar ? [...plain, ...plain.map(c => over(numbers(bar[1]), c))] : plain; };
let least = 99, texts = 0, bars = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (!node.data.trim() || node.parentNode.tagName === 'SCRIPT') continue;
  const backs = behind(node.parentNode); texts += 1; bars += backs.length > 1;
  for (const back of backs) {
    const a = light(over(numbers(getComputedStyle(node.parentNode).color), back)), b = light(back);
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)); } }
document.body.innerHTML = `<p>measured ${least.toFixed(3)} ${texts} ${bars}</p>`;
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(theme: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(theme, MEASURE), encoding="utf-8")
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"]
    run = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync",
        *quiet, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r"measured ([\d.]+) (\d+) (\d+)", done.stdout)
    assert found is not None, done.stdout[-2000:]
    assert int(found[2]) > 2000
    assert int(found[3]) > 300
    assert float(found[1]) >= LEAST_CONTRAST
