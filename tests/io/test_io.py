"""Reading and writing as such: paths and open files, formats by name or asked for, failures without trace."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import pgm
from pgm.config import config
from pgm.errors import FileFormatError, InvalidArgument, TooLarge
from pgm.io import FORMATS, read, read_evidence, write

NET = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.8, 0.2;
}
"""


def rainy() -> pgm.BayesianNetwork:
    net = pgm.BayesianNetwork()
    net.add("rain", {"no": 0.8, "yes": 0.2})
    return net


def test_open_files_are_read(tmp_path):
    path = tmp_path / "a.bif"
    path.write_text(NET)
    for mode in ("r", "rb"):
        with open(path, mode) as file:
            assert read(file) == rainy()
    assert read(io.StringIO(NET), format="bif") == rainy()
    assert read(io.StringIO("\ufeff" + NET), format="bif") == rainy()
    assert read(io.BytesIO(NET.encode()), format="bif") == rainy()
    assert read(io.BytesIO(gzip.compress(NET.encode())), format="bif") == rainy()
    with gzip.open(tmp_path / "b.bif.gz", "wt") as file:
        file.write(NET)
    for mode in ("rt", "rb"):
        with gzip.open(tmp_path / "b.bif.gz", mode) as file:
            assert read(file, format="bif") == rainy()


def test_open_files_are_written(tmp_path):
    for mode in ("w", "wb"):
        with open(tmp_path / "a.bif", mode) as file:
            write(rainy(), file)
        assert (tmp_path / "a.bif").read_text() == NET
    text, data = io.StringIO(), io.BytesIO()
    write(rainy(), text, format="bif")
    write(rainy(), data, format="bif")
    assert text.getvalue() == data.getvalue().decode() == NET
    with gzip.open(tmp_path / "b.bif.gz", "wb") as file:  # packed once
        write(rainy(), file, format="bif")
    assert gzip.decompress((tmp_path / "b.bif.gz").read_bytes()).decode() == NET
    with tempfile.NamedTemporaryFile("w+", suffix=".bif") as file:
        write(rainy(), file)
        file.seek(0)
        assert read(file) == rainy()
    with tempfile.TemporaryFile() as file:  # its name is a number
        write(rainy(), file, format="bif")
        file.seek(0)
        assert read(file, format="bif") == rainy()


def test_a_format_can_be_asked_for(tmp_path):
    path = tmp_path / "notes.txt"
    write(rainy(), path, format="bif")
    assert path.read_text() == NET
    assert read(path, format="bif") == rainy()
    write(rainy(), path, format="uai")  # it counts more than the name
    assert path.read_text().startswith("BAYES")


def test_an_unknown_format_is_told_the_known_ones(tmp_path):
    for ask in (lambda: read(tmp_path / "a.xls"), lambda: write(rainy(), tmp_path / "a.xls")):
        with pytest.raises(InvalidArgument, match=r"'.*a\.xls'.*\.bif, .*\.uai") as caught:
            ask()
        assert all(f".{name}" in str(caught.value) for name in FORMATS)
    with pytest.raises(InvalidArgument, match=r"no format 'biff'.*Did you mean 'bif'"):
        read(tmp_path / "a.bif", format="biff")
    for bad in (".bif", "BIF", 3, ["bif"]):
        with pytest.raises(InvalidArgument, match="no format"):
            write(rainy(), tmp_path / "a.bif", format=bad)
    with pytest.raises(InvalidArgument, match=r"open file.*format="):
        read(io.StringIO(NET))
    with pytest.raises(InvalidArgument, match=r"open file.*format="):
        write(rainy(), io.StringIO())
    with pytest.raises(InvalidArgument, match=r"path.*or open with read\(\), not 3"):
        read(3)
    with pytest.raises(InvalidArgument, match=r"open with write\(\)"):
        write(rainy(), object(), format="bif")
    assert not list(tmp_path.iterdir())


def test_what_fails_writes_nothing(tmp_path):
    bad = rainy().rename({"rain": 'r"'})
    file = io.StringIO()
    with pytest.raises(InvalidArgument, match="quote"):
        write(bad, file, format="bif")
    assert file.getvalue() == ""
    (tmp_path / "a.uai").write_text("before")
    with pytest.raises(pgm.UnknownVariable):
        write(rainy(), tmp_path / "a.uai", evidence={"snow": "yes"})
    assert (tmp_path / "a.uai").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.uai"]


def test_evidence_has_a_file_of_its_own(tmp_path):
    write(rainy(), tmp_path / "a.uai.gz", evidence={"rain": "yes"})
    assert (tmp_path / "a.uai.evid").read_text() == "1 0 1\n"
    with open(tmp_path / "a.uai.evid") as file:
        assert read_evidence(file, rainy()) == {"rain": "yes"}
    with pytest.raises(InvalidArgument, match="write to a path"):
        write(rainy(), io.StringIO(), format="uai", evidence={"rain": "yes"})
    with pytest.raises(InvalidArgument, match="evidence= has no effect"):
        write(rainy(), tmp_path / "a.bif", evidence={"rain": "yes"})


def test_open_files_within_the_memory_limit():
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"x" * size

    with config(memory_limit="16 MB"), pytest.raises(TooLarge, match="<file>: more than"):
        read(Endless(), format="bif")
    bomb = io.BytesIO(gzip.compress(bytes(64 << 20)))
    with config(memory_limit="16 MB"), pytest.raises(TooLarge, match="memory_limit"):
        read(bomb, format="bif")


def test_files_that_read_no_text(tmp_path):
    class Numbers:
        def read(self, size):
            return [1, 2]

    class Mixed(Numbers):
        def __init__(self):
            self.parts = [b"a", "b", b""]

        def read(self, size):
            return self.parts.pop(0)

    for file in (Numbers(), Mixed()):
        with config(memory_limit="16 MB"), pytest.raises((InvalidArgument, TooLarge)):
            read(file, format="bif")
    (tmp_path / "a.bif").write_bytes(NET.replace("rain", "Zürich").encode("latin-1"))
    with (
        open(tmp_path / "a.bif", encoding="utf-8") as file,
        pytest.raises(FileFormatError, match="encoding="),
    ):
        read(file)


def test_places_of_open_files():
    with pytest.raises(FileFormatError, match=r"^<file>:1:1: expected 'network'"):
        read(io.StringIO("nonsense"), format="bif")


def test_importing_the_room_loads_no_format():
    code = "import sys, pgm.io; print(*[m for m in pgm.io.FORMATS.values() if 'pgm.io.' + m in sys.modules])"
    root = Path(pgm.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root)
    assert done.stdout.split() == ["uai"]  # for its evidence
