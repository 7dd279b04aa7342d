"""What a `default` row spans in BIF and DSC, and what Hugin leaves out, stays one row."""

from __future__ import annotations

import io
import itertools
import time

import numpy as np
import pytest

import pgm
from tests.io.formats import peak, read, write
from tests.machine import memory, slowness

STATES = ("no", "yes")
MB = 1 << 20


def text(format: str, parents: int, rows: list[str], default: str | None = "0.25, 0.75") -> str:
    """A file in which y has so many parents of two states, some rows, and a default."""
    names = [f"x{i}" for i in range(parents)]
    if format == "net":
        parts = [f"node {name} {{ states = (no yes); }} potential ({name}) {{ }}" for name in names]
        parts.append(f"node y {{ states = (no yes); }} potential (y | {' '.join(names)}) {{ }}")
        return "\n".join(["net { }", *parts])
    if format == "bif":
        parts = ["network unknown { }"]
        parts += [f"variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}" for name in (*names, "y")]
    else:
        parts = ['belief network "n"']
        parts += [f'node {name} {{ type : discrete [ 2 ] = {{ "no", "yes" }}; }}' for name in (*names, "y")]
    word = "table" if format == "bif" else ""
    parts += [f"probability ( {name} ) {{ {word} 0.5, 0.5; }}" for name in names]
    body = [*rows, f"default {':' if format == 'dsc' else ''} {default};"] if default else rows
    parts.append("\n".join([f"probability ( y | {', '.join(names)} ) {{", *body, "}"]))
    return "\n".join(parts)


def row(format: str, key: tuple[str, ...], p: float) -> str:
    words = ", ".join(key if format == "bif" else [f'"{state}"' for state in key])
    return f"({words}){':' if format == 'dsc' else ''} {1 - p!r}, {p!r};"


@pytest.mark.parametrize("format", ["bif", "dsc"])
@pytest.mark.parametrize("parents", [1, 3, 5, 6, 8, 12])
def test_small_and_large_ones_say_the_same(format, parents):
    rng = np.random.default_rng(parents)
    every = list(itertools.product(STATES, repeat=parents))
    chosen = {every[i]: round(float(rng.random()), 3) for i in rng.choice(len(every), min(9, len(every) - 1))}
    net = read(text(format, parents, [row(format, *one) for one in chosen.items()]).encode(), format)
    y = net.cpd("y")
    if parents <= 5:  # no larger than any object
        assert type(y) is pgm.TableCPD
    if parents == 12:  # larger than the text
        assert type(y) is pgm.DefaultCPD
    values = [chosen.get(key, 0.75) for key in every]
    np.testing.assert_array_equal(y.values[..., 1].ravel(), values)
    table = pgm.BayesianNetwork()
    for i in range(parents):
        table.add(f"x{i}", [0.5, 0.5], states=STATES)
    table.add("y", np.reshape([[1 - p, p] for p in values], y.values.shape), states=STATES, parents=y.parents)
    assert net.cpd("y") == table.cpd("y")
    assert net.query("y")["yes"] == pytest.approx(np.mean(values), abs=1e-12)
    for other in ("bif", "dsc", "json", "xmlbif", "xdsl", "net"):
        assert read(write(net, other), other).cpd("y") == y


@pytest.mark.parametrize("format", ["bif", "dsc", "net"])
def test_it_is_read_and_written_as_one_row(format):
    content = text(format, 25, [row(format, ("yes",) * 25, 0.9), row(format, ("yes",) * 24 + ("no",), 0.8)])
    with pgm.config(memory_limit="2 MB"):
        net = read(content.encode(), format)
        if format == "net":  # uniform
            assert net.query("y")["yes"] == 0.5
        else:
            assert net.query("y")["yes"] == pytest.approx(0.75 + (0.15 + 0.05) / 2**25, rel=1e-14)
            assert net.query("y", {f"x{i}": "yes" for i in range(25)})["yes"] == 0.9
        for other in ("json", "bif", "dsc") + ("net",) * (format == "net"):
            written = write(net, other)
            assert len(written) < 20_000
            again = read(written, other)
            assert [again.cpd(name) for name in again] == [net.cpd(name) for name in net]
        for other in ("xmlbif", "xdsl", "uai") + ("net",) * (format != "net"):
            with pytest.raises(pgm.TooLarge, match=r"'y'.*holds no default rows, which BIF, DSC and JSON do"):
                write(net, other)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["(" + "no, " * 25 + ") 0.5, 0.6;"], r":\d+:\d+: 'y', row x0='no', .* sum to 1.1"),
        (["(" + "no, " * 25 + ") 0.5, 0.5;"] * 2, r":\d+:1: 'y': a second row for x0='no', x1='no'"),
        (["(" + "no, " * 24 + "maybe) 0.5, 0.5;"], r":\d+:1: 'y': the parent 'x24' has no state 'maybe'"),
        (["(" + "no, " * 24 + ") 0.5, 0.5;"], "expected a state of each parent"),
        (["(" + "no, " * 25 + ") 0.5;"], "expected 2 numbers, found 1"),
        (["(" + "no, " * 25 + ") 0.5 x;"], "expected a number or ';', found 'x'"),
        (["default 1, 0;"], "a second 'default'"),
        (["table 1, 0;"], "together with a 'table'"),
    ],
)
def test_wrong_rows_are_refused_where_they_stand(rows, message):
    content = text("bif", 25, rows)
    with pytest.raises(pgm.FileFormatError, match=message) as caught:
        read(content.encode(), "bif")
    assert caught.value.line == content.count("\n") - (rows[0][:7] != "default")
    with pytest.raises(pgm.FileFormatError, match=r"'y', row default: .* sum to 1.1") as caught:
        read(text("bif", 25, [], "0.5, 0.6").encode(), "bif")
    assert caught.value.line == 1 + 26 + 25 + 2
    with pytest.raises(pgm.FileFormatError, match=r"row for x0='no', .*x24='yes' \(and 33,554,430 more\)"):
        read(text("bif", 25, [row("bif", ("no",) * 25, 0.5)], None).encode(), "bif")


@pytest.mark.parametrize("format", ["bif", "dsc", "net"])
def test_any_number_of_parents(format):
    begun = time.thread_time()
    net = read(text(format, 14_300, []).encode(), format)
    assert net.query("y")["yes"] == (0.5 if format == "net" else 0.75)
    if format == "bif":
        with pytest.raises(pgm.FileFormatError, match="'y': nearly every row is missing"):
            read(text(format, 14_300, [], None).encode(), format)
        with pytest.raises(pgm.TooLarge, match=r"'y' has more than 10\*\*15 entries"):
            read(text(format, 14_300, ["table 0.5, 0.5;"], None).encode(), format)
    assert time.thread_time() - begun < 8 * slowness()


@pytest.mark.skipif(not memory("VmHWM"), reason="the system does not say how much memory was in use")
@pytest.mark.parametrize("format", ["bif", "dsc", "net"])
def test_memory_is_that_of_the_file(format, tmp_path):
    small = text(format, 3, []).encode()
    said, used = peak(tmp_path, text(format, 25, []).encode(), small, format, "16.8 MB")
    assert not said
    assert used < MB
    if format == "net":
        return
    rng = np.random.default_rng(0)
    keys = {tuple(STATES[bit] for bit in rng.integers(2, size=25)) for _ in range(20_000)}
    content = text(format, 25, [row(format, key, 0.5) for key in sorted(keys)]).encode()
    said, used = peak(tmp_path, content, small, format)
    assert not said
    assert used < 20 * len(content)
    # Many tables, each a little text, each spanning far more.
    blocks = [text(format, 12, [])]
    for i in range(3_000):
        head = blocks[0].splitlines()
        declared = next(line for line in head if " y " in line).replace(" y ", f" y{i} ")
        blocks.append(declared)
        blocks.append("\n".join(head[-3:]).replace("( y |", f"( y{i} |"))
    content = "\n".join(blocks).encode()
    said, used = peak(tmp_path, content, small, format)
    assert not said
    assert used < 20 * len(content)


@pytest.mark.skipif(not memory("VmHWM"), reason="the system does not say how much memory was in use")
def test_hugins_default_of_numbers_stays_within_the_limit(tmp_path):
    parts = [f"node x{i} {{ states = (no yes); }} potential (x{i}) {{ }}" for i in range(16)]
    parts.append(f"continuous node z {{ }} potential (z | {' '.join(f'x{i}' for i in range(16))}) {{ }}")
    small = "node x { states = (no yes); } potential (x) { }"
    said, used = peak(tmp_path, "\n".join(parts).encode(), small.encode(), "net", "16.8 MB")
    assert said == "TooLarge"
    assert used < 16.8e6
    with pytest.raises(pgm.TooLarge, match="'z'"), pgm.config(memory_limit="16.8 MB"):
        pgm.read(io.StringIO("\n".join(parts)), format="net")
