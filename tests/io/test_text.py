"""Files as such: packed, damaged, too large, written half."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pgm.config import config
from pgm.errors import FileFormatError, InvalidArgument, TooLarge
from pgm.io import read, read_evidence, write, write_result
from pgm.io.text import read_text, write_text
from pgm.models import BayesianNetwork
from tests.io import formats
from tests.io.formats import peak
from tests.machine import memory

NET = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
probability ( rain ) {
  table 0.8, 0.2;
}
"""


def rainy() -> BayesianNetwork:
    net = BayesianNetwork()
    net.add("rain", {"no": 0.8, "yes": 0.2})
    return net


@pytest.mark.parametrize("name", ["a.bif", "a.bif.gz", "A.BIF", "a.b.bif.GZ"])
def test_a_name_decides_the_format(tmp_path, name):
    write(rainy(), tmp_path / name)
    write(rainy(), str(tmp_path / name))
    assert read(tmp_path / name) == read(str(tmp_path / name)) == rainy()
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.lower().endswith(".gz")


@pytest.mark.parametrize(
    "name", ["a", "a.txt", "a.gz", "", ".bif", "a.bif/", "bif", "a.evid", 3, None, b"a.bif"]
)
def test_an_unknown_format_is_refused(tmp_path, name):
    path = os.path.join(tmp_path, name) if isinstance(name, str) else name
    with pytest.raises(InvalidArgument):
        write(rainy(), path)
    with pytest.raises(InvalidArgument, match="read_evidence" if name == "a.evid" else None):
        read(path)
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.bif")


def test_a_packed_file_need_not_say_so(tmp_path):
    (tmp_path / "a.bif").write_bytes(gzip.compress(NET.encode()))
    assert read(tmp_path / "a.bif") == rainy()
    (tmp_path / "b.bif.gz").write_bytes(NET.encode())
    assert read(tmp_path / "b.bif.gz") == rainy()
    (tmp_path / "c.bif.gz").write_bytes(gzip.compress(NET[:40].encode()) + gzip.compress(NET[40:].encode()))
    assert read(tmp_path / "c.bif.gz") == rainy()


def test_a_damaged_packed_file(tmp_path):
    whole = gzip.compress(NET.encode() * 100)
    for name, data in {
        "short": whole[:-20],
        "head": whole[:5],
        "turned": whole[:60] + bytes(20) + whole[80:],
    }.items():
        path = tmp_path / f"{name}.bif.gz"
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match="gzipped"):
            read(path)


def test_a_bomb_does_not_go_off(tmp_path):
    path = tmp_path / "bomb.bif.gz"
    with gzip.open(path, "wb", compresslevel=9) as stream:
        for _ in range(64):
            stream.write(bytes(1 << 20))
    assert path.stat().st_size < 100_000
    with config(memory_limit="16 MB"), pytest.raises(TooLarge, match="memory_limit"):
        read(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no endless file here")
def test_an_endless_file_ends(tmp_path):
    (tmp_path / "endless.bif").symlink_to("/dev/zero")
    with config(memory_limit="16 MB"), pytest.raises(TooLarge):
        read(tmp_path / "endless.bif")


def test_encodings(tmp_path):
    text = NET.replace("rain", "Zürich").replace("yes", "über")
    path = tmp_path / "a.bif"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        assert read(path).variables["Zürich"].states == ("no", "über")
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(FileFormatError, match=r"a\.bif:3:11: .*0xfc.*latin-1") as caught:
        read(path)
    assert (caught.value.line, caught.value.column) == (3, 11)
    assert list(read(path, encoding="latin-1").variables) == ["Zürich"]
    for wrong in ("martian", 5, b"utf-8", "a\0b", "hex", "undefined"):
        with pytest.raises(InvalidArgument, match=r"no encoding .*latin-1"):
            read(path, encoding=wrong)
    with pytest.raises(FileFormatError, match="not idna text"):
        read(path, encoding="idna")


@pytest.mark.parametrize("name", ["a\0.bif", "a\ud800.bif", "\0.json"])
def test_a_name_that_no_file_can_have(tmp_path, name):
    path = str(tmp_path / name)
    net = rainy()
    for attempt in (
        read,
        lambda file: write(net, file),
        lambda file: read_evidence(file, net),
        lambda file: write_result(net.map(), file, net),
    ):
        with pytest.raises(InvalidArgument, match="No file can have the name"):
            attempt(path)


def test_places_count_from_one(tmp_path):
    for newline in ("\n", "\r\n", "\r"):
        path = tmp_path / "a.txt"
        path.write_bytes(f"ab{newline}cd".encode())
        text = read_text(path)
        error = text.error("here", text.content.index("d"))
        assert (error.line, error.column) == (2, 2)
        assert str(error) == f"{path}:2:2: here"


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a.bif"
    path.write_text("before")

    def broken(*_):
        raise OSError("the disk is gone")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="gone"):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)  # as where a file cannot do without a name
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="gone"):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    bad = rainy().rename({"rain": 'r"'})
    with pytest.raises(InvalidArgument, match="quote"):
        write(bad, path)
    assert path.read_text() == "before"


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_permissions_are_those_of_any_file(tmp_path):
    path = tmp_path / "a.txt"
    (tmp_path / "b.txt").write_text("")
    write_text(path, "a")
    assert path.stat().st_mode == (tmp_path / "b.txt").stat().st_mode
    path.chmod(0o640)
    write_text(path, "b")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "real" / "a.txt")
    write_text(link, "a")
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "a"


def test_equal_models_make_equal_files(tmp_path):
    write(rainy(), tmp_path / "a.bif.gz")
    write(rainy(), tmp_path / "b.bif.gz")
    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()


def test_a_folder_that_is_not_there_is_an_error_about_the_name_given(tmp_path: os.PathLike[str]) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_text(tmp_path / "none" / "net.bif", "")
    assert caught.value.filename == str(tmp_path / "none" / "net.bif")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_and_devices_are_written_to_and_stay(tmp_path):
    pipe = tmp_path / "a.bif"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(rainy(), pipe)
    assert os.read(reader, 10_000).decode() == NET
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    before = os.stat(os.devnull)
    write(rainy(), os.devnull, format="bif")
    (tmp_path / "null.bif").symlink_to(os.devnull)
    write(rainy(), tmp_path / "null.bif")
    assert os.stat(os.devnull).st_ino == before.st_ino
    assert (tmp_path / "null.bif").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(IsADirectoryError):
        write(rainy(), tmp_path, format="bif")


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
def test_a_protected_file_is_not_replaced():
    folder = Path(tempfile.mkdtemp())  # one that any user may enter
    folder.chmod(0o777)
    path = folder / "a.bif"
    path.write_text("before")
    path.chmod(0o444)
    user = os.geteuid()
    try:
        if user == 0:  # who may write anything
            os.seteuid(65534)
        with pytest.raises(PermissionError, match=r"a\.bif"):
            write(rainy(), path)
    finally:
        os.seteuid(user)
    assert path.read_text() == "before"
    assert list(folder.iterdir()) == [path]
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files have names here while they are written")
@pytest.mark.parametrize("there", [True, False])
def test_a_kill_leaves_nothing_behind(tmp_path, there):
    path = tmp_path / "a.bif"
    if there:
        path.write_text("before")
    program = (
        "import os, signal, sys; from pgm.io.text import write_text\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_text(sys.argv[1], 'after')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)])
    assert done.returncode == -signal.SIGKILL
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"] * there


@pytest.mark.skipif(os.name == "nt", reason="names have other limits")
def test_a_name_of_all_letters_that_a_name_can_have(tmp_path):
    for name in ("a" * 251 + ".bif", "a" * 238 + ".bif", "ü" * 125 + ".bif"):
        write(rainy(), tmp_path / name)
        write(rainy(), tmp_path / name)  # also in the place of another
        assert read(tmp_path / name) == rainy()
    with pytest.raises(OSError, match="too long"):
        write(rainy(), tmp_path / ("a" * 252 + ".bif"))


@pytest.mark.skipif(not memory("VmHWM"), reason="the system does not say how much memory was in use")
@pytest.mark.parametrize(
    ("format", "begin", "unit", "times"),
    [
        ("bif", "", " ", 2.5),
        ("dsc", "", "\n", 2.5),
        ("net", "", " ", 2.5),
        ("uai", "", " ", 2.5),
        ("json", "", " ", 2.5),
        ("xmlbif", "", " ", 2.5),
        ("xmlbif", "<BIF>", " ", 3.5),
        ("xmlbif", "<BIF>", "<PROPERTY>a</PROPERTY>", 8),
        ("uai", "MARKOV 1 2 1 1 0 2 ", "0.5 ", 7),
    ],
)
def test_what_packed_files_hold_takes_little_more_than_itself(format, begin, unit, times, tmp_path):
    size = 20_000_000
    data = gzip.compress((begin + unit * (size // len(unit))).encode(), compresslevel=1)
    said, used = peak(tmp_path, data, formats.ROOT[format].format(1, 0).encode(), format)
    assert said in ("FileFormatError", "")
    assert used < times * size


@pytest.mark.skipif(not memory("VmHWM"), reason="the system does not say how much memory was in use")
@pytest.mark.parametrize(
    ("format", "begin", "unit"),
    [
        ("json", '{"pgm": 1, "nodes": [', "[],"),
        ("json", '{"pgm": 1, "nodes": [', '{"":1},'),
        ("xmlbif", "<BIF>", "<a/>"),
    ],
)
def test_small_things_in_great_numbers_stay_within_the_limit(format, begin, unit, tmp_path):
    data = (begin + unit * (2_000_000 // len(unit))).encode()
    said, used = peak(tmp_path, data, formats.ROOT[format].format(1, 0).encode(), format, "40 MB")
    assert said == "TooLarge"
    assert used < 40e6
