"""Every block of the README and of the pages in docs/ runs, from top to bottom, and gives what it shows.

The calls in their sentences and tables are made too, except in decision records: these are never rewritten.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests import snippets

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OF_OTHERS = {"from-pgmpy.md": "pgmpy", "from-pyagrum.md": "pyagrum"}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if snippets.FENCE.search(page.read_text(encoding="utf-8"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    snippets.run(page, ("python",) if page.name == "README.md" else ("python", "sh"))


@pytest.mark.parametrize("page", OF_OTHERS)
def test_what_a_page_says_of_another_library_runs_where_that_is_installed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(OF_OTHERS[page]) is None:
        pytest.skip(f"{OF_OTHERS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    snippets.run(ROOT / "docs" / "how-to" / page, ("python", "py"))


@pytest.mark.parametrize("code", ["1 + 1  # -> 3", "x = 0.12346  # -> 0.123", "'a', 2  # -> 'b', 2"])
def test_a_page_that_shows_what_is_not_so_fails(code: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\n{code}\n```\n", encoding="utf-8")
    if code.startswith("x"):
        snippets.run(page)  # to the digits shown this is so
        page.write_text(f"```python\n{code}4\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        snippets.run(page)


@pytest.mark.parametrize(
    "text",
    [
        "```text\nnothing prints this\n```\n",
        "```python\n1\n```\nand then\n```text\n1\n```\n",
        "```console\n1\n```\n",
        "- in a list\n  ```\n  1\n  ```\n",
        "~~~json\n1\n~~~\n",
        "```sh\ncat model.bif\n```\n",
        "```python\n1 + 1  # => 3\n```\n",
    ],
)
def test_a_block_that_nothing_would_run_fails(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError):
        snippets.run(page)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent.name != "decisions"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_calls_in_the_text_of_a_page_are_right(page: Path) -> None:
    snippets.calls(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "span",
    [
        'pgm.AtLeast(["a", "b", "c"], 2)',
        "pgm.NoisyXor(0.3)",
        "pgm.engines.Loopy(dampin=0.5)",
        'net.query("rain", evidence={})',
        "net.do()",
        'engine="lopy"',
        'net.query(..., engine="lopy")',
        'net.query("rain", given, engine=pgm.engines.Loopy(damping=-1.0))',
        "with pgm.config(memory=1):",
    ],
)
def test_a_call_in_the_text_that_is_wrong_fails(span: str) -> None:
    with pytest.raises(AssertionError):
        snippets.calls(f"| `{span}` | of something |\n")
    with pytest.raises(AssertionError):
        snippets.calls(f"A sentence with `{span}`.\n")


def test_calls_that_are_left_open_are_checked_as_far_as_they_go() -> None:
    text = "`net.query(...)`, `net.plan(engine=...)`, `pgm.AtLeast(2, ...)`, `pgm.Not(\n'a')`, `gum.load(1)`"
    assert snippets.calls(text) == 4


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
