"""The site: complete, light, and built without a warning where Sphinx is installed (.ci/run installs it)."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from PIL import Image

import pgm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = {path.stem for path in (ROOT / "examples").glob("*.py")}


def load(name: str, path: Path) -> object:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_its_place_in_the_reference() -> None:
    """Without Sphinx: the classes and functions; that their methods follow is for the build to check."""
    listed = set()
    for page in (DOCS / "reference").glob("*.rst"):
        listed |= set(re.findall(r"^\.\. auto\w+:: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE))
    public = {f"pgm.{name}" for name in pgm.__all__ if not inspect.ismodule(getattr(pgm, name))}
    public |= {f"pgm.engines.{kind.__name__}" for kind in pgm.engines.ENGINES.values()}
    spaces = [name for name in pgm.__all__ if inspect.ismodule(getattr(pgm, name)) and name != "engines"]
    for space in (*spaces, "adapters", "evaluation"):
        for name in getattr(getattr(pgm, space), "__all__", ()):
            if name in pgm.__all__:
                continue
            at_home = f"{getattr(getattr(pgm, space), name).__module__}.{name}"
            public.add(at_home if at_home in listed else f"pgm.{space}.{name}")
    assert listed >= public
    for name in listed - public:  # types that users receive, where they are at home; see test_docstrings.py
        module, _, own = name.rpartition(".")
        space = module.removeprefix("pgm.")
        alias = getattr(pgm, space, None) if space in pgm.__all__ else None
        home = alias if inspect.ismodule(alias) else importlib.import_module(module)
        assert inspect.isclass(getattr(home, own)), name
        assert module not in ("pgm", "pgm.engines")


def test_every_page_can_be_reached() -> None:
    pages = {page.resolve() for page in DOCS.rglob("*.md")} - {(DOCS / "index.md").resolve()}
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for entry in tree.split():
                pages -= {found.resolve() for found in page.parent.glob(f"{entry}.md")}
    assert not pages


def test_every_file_of_pgm_has_its_place_among_the_rooms() -> None:
    """In the order of the layers: nothing that a file may import stands below it."""
    rooms = load("rooms", DOCS / "rooms.py")
    listed = re.findall(r"^\| `(pgm/\S+)` \| \S", rooms.tables(), re.MULTILINE)  # type: ignore[attr-defined]
    outside = {"pgm/__init__.py", "pgm/inference/__init__.py"}
    assert set(listed) | outside == {p.relative_to(ROOT).as_posix() for p in (ROOT / "pgm").rglob("*.py")}
    assert len(listed) == len(set(listed))
    row = re.compile(r"^\| `(pgm/\S+)` \| \S", re.MULTILINE)
    page = (DOCS / "developer" / "rooms.md").read_text(encoding="utf-8")
    today = row.findall(rooms.house())  # type: ignore[attr-defined]
    assert row.findall(page) == today, "the map is not that of today: python docs/rooms.py --write"
    assert {folder.rstrip("/") for folder in today if folder.endswith("/")} == {
        path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "pgm").rglob("*/__init__.py")
    }
    order = [
        "pgm/errors.py",
        "pgm/runtime/clock.py",
        "pgm/inference/trees/needs.py",
        "pgm/models/grid.py",
        "pgm/cli.py",
    ]
    assert [path for path in listed if path in order] == order


def test_pictures_are_those_that_pages_show_and_small() -> None:
    kept = {path.name: path for path in (DOCS / "pictures").iterdir()}
    shown = set()
    for page in DOCS.rglob("*.md"):
        shown |= {
            Path(p).name
            for p in re.findall(r"!\[[^\]]+\]\(([^)]*pictures/[^)]+)\)", page.read_text(encoding="utf-8"))
        }
    assert set(kept) == shown
    for path in kept.values():
        assert path.stat().st_size < 100_000, path.name


def test_the_pictures_are_made_by_pgm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pictures = load("pictures", DOCS / "pictures.py")
    pictures.write(tmp_path)  # type: ignore[attr-defined]
    made = {draw.__name__ for draw in pictures.PICTURES}  # type: ignore[attr-defined]
    assert made | EXAMPLES == {path.stem for path in (DOCS / "pictures").iterdir()}
    for name in made:  # the size in pixels: what is drawn may look a little different with another matplotlib
        new, old = (plt.imread(folder / f"{name}.png").shape for folder in (tmp_path, DOCS / "pictures"))
        assert new[:2] == pytest.approx(old[:2], rel=0.1), f"{name} has changed: run docs/pictures.py"


def test_the_picture_of_the_rooms_is_that_of_today() -> None:
    pictures = load("pictures", DOCS / "pictures.py")
    today = pictures.arrows(pictures.room_imports())  # type: ignore[attr-defined]
    with Image.open(DOCS / "pictures" / "rooms.png") as picture:
        assert picture.text["Description"] == today, "rooms import others than drawn: run docs/pictures.py"


def test_the_gallery_shows_every_example() -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert EXAMPLES == set(re.findall(r"^## .*`(\w+)\.py`$", text, re.MULTILINE))


SEARCH = """
// What the search page loads, with as much of a browser and of Sphinx' other scripts as the ranking takes.
const [fs, vm] = [require("fs"), require("vm")];
global.document = { getElementById: () => null };
global._ready = () => {};
global._ = (text) => text;
global.SPHINX_HIGHLIGHT_ENABLED = false;
global.stopwords = new Set();
global.Stemmer = class { stemWord(word) { return word; } };
for (const file of process.argv.slice(2)) vm.runInThisContext(fs.readFileSync(file, "utf8"));
// The word is the title of two records, and in the index for one; two pages merely use it.
vm.runInThisContext(`Search.setIndex({
  docnames: ["decisions/0020-bounds", "decisions/README", "how-to/big", "reference/engines"],
  filenames: ["a", "b", "c", "d"], titles: ["Bounds", "Bounds", "Big networks", "Engines"],
  alltitles: { Bounds: [[0, null], [1, "bounds"]] }, indexentries: { bounds: [[0, "x", true]] },
  objects: {}, objnames: {}, terms: { bounds: [0, 1, 2, 3] }, titleterms: { bounds: [0, 1] },
})`);
const query = "Search._performSearch(...Search._parseQuery('bounds'))";
console.log(vm.runInThisContext(query).map((result) => result[0]).reverse().join(" "));
"""


def test_the_search_puts_pages_before_decision_records(tmp_path: Path) -> None:
    scorer = Path(load("conf", DOCS / "conf.py").html_search_scorer)  # type: ignore[attr-defined]
    sphinx = pytest.importorskip("sphinx")
    if (node := shutil.which("node")) is None:
        pytest.skip("there is no node to run the search with")
    (tmp_path / "search.js").write_text(SEARCH, encoding="utf-8")
    tools = Path(sphinx.__file__).parent / "themes" / "basic" / "static" / "searchtools.js"

    def found(*files: Path) -> list[str]:
        command = [node, str(tmp_path / "search.js"), *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()

    records = ["decisions/0020-bounds", "decisions/README"]
    assert found(tools)[0] in records  # Sphinx by itself
    for files in [(tools, scorer), (scorer, tools)]:
        assert set(found(*files)[:2]) == {"how-to/big", "reference/engines"}
        assert set(found(*files)[2:]) == set(records)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(tmp_path / "trees")]
    done = subprocess.run(
        [*command, str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        timeout=540,  # 25 s of one quiet processor
    )
    assert done.returncode == 0, done.stderr
    searched = (tmp_path / "site" / "_static" / "language_data.js").read_text("utf-8")
    assert (DOCS / "search.js").read_text("utf-8") in searched
    for page in (tmp_path / "site").rglob("*.html"):
        loads = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"((?:https?:)?//[^\"]+)",
            page.read_text("utf-8"),
        )
        assert not loads, f"{page.name} loads {loads}"
    for sheet in (tmp_path / "site").rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", sheet.read_text("utf-8")), sheet.name
