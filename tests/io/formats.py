"""What every file format must do: give back any names and all bits, and refuse broken files quickly.

test_formats.py runs this over `pgm.io.FORMATS`: a format has its fuzz test and its round trips by being
registered there. Where it cannot hold some characters or forgets names, say so below, in `MAY_REFUSE` or
`NAMELESS`; what its reader can read and its writer does not write goes into `MORE_SEEDS`.
"""

from __future__ import annotations

import io
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import pgm
from pgm.io import FORMATS
from tests.machine import memory

NAMES = list({module: name for name, module in reversed(FORMATS.items())}.values())[
    ::-1
]  # of each module one
NAMELESS = {"uai"}  # variables and states come back as numbers
MAY_REFUSE = {"bif": '"\n\r'}  # in names, with an error
MORE_SEEDS: dict[str, list[str]] = {
    "bif": [
        'network "a b" { property x; }\n// remark\nvariable "a b" { type discrete [ 2 ] { "x y", <5 }; }\n'
        "variable c { type discrete[2] { n y }; }\n"
        'probability ( "a b" ) { table 0.5 0.5; }\nprobability ( c | "a b" ) { default 1 0; (<5) .1 .9; }\n',
        "network n { }\n"
        + "".join(
            f"variable x{i} {{ type discrete[2] {{ n y }}; }} probability ( x{i} ) {{ table 0.5 0.5; }}\n"
            for i in range(9)
        )
        + "variable c { type discrete[2] { n y }; }\n"
        "probability ( c | x0 x1 x2 x3 x4 x5 x6 x7 x8 ) { default 1 0; (n n n n n n n n y) 1e-1 .9; }\n",
    ],
    "net": [
        'class c { inputs = (); HR_Desc = "a\\n; }"; % remark\n'
        'discrete node a { label = "the (a)"; states = ("x y" "z\\""); position = (1 2); }\n'
        "node n { subtype = number; state_values = (0 1); } "
        'node i { subtype = interval; states = ("" ""); state_values = (-infinity 0.5 infinity); }\n'
        "potential (a) { data = (.5 5e-1); } potential (n | a) { data = ((0.1 0.9) 1 0); }\n"
        "potential (i) { } }",
        "net { name = my net; }\nnode a { states = (x y); }\ncontinuous node z { }\ncontinuous node w { }\n"
        "potential (a) { data = (1 0); }\npotential (z) { data = normal (0, 1); }\n"
        "potential (w | a z) { data = (normal (1 - 2 * z, 0.5) normal (z, 4e-1)); }\n",
    ],
    "dsc": [
        'belief network "n"\nnode a { type : discrete [2] = { "x", "y" }; } probability(a) { 1, 0; }\n'
        'node b { type : discrete[2] = { "x", "y" }; } probability(b) { 1, 0; }\n'
        'node c { type : discrete[9] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" }; }\n'
        'probability(c | a, b) { default : 1 0 0 0 0 0 0 0 0; ("y", 0) : 0 1 0 0 0 0 0 0 0; }\n',
        'belief network "n"\nproperties { type label = choice of [a, b], "{"; }\n'
        'node a { name is "A\\n"; type is discrete[2] = { "x", "y" }; position is (1, 2); (label) = b; }\n'
        'node b { type : discrete[2] = { "1", "0" }; }\n'
        'probability(a) { 0.5, 0.5; } probability(b | a) { default : 1, 0; ("y") : .1, 9e-1; }\n',
        'belief network "n"\nnode a { type : discrete[2] = { "x", "y" }; }\n'
        'node b { type : discrete[2] = { "x", "y" }; }\n'
        "probability (a) { 1, 0; }\nprobability (b | a) { (0, 0) : 1, 0; (0, 0) : 0, 1; }\n",
    ],
    "xmlbif": [
        '<?xml version="1.0"?>\n<!DOCTYPE BIF [\n<!ELEMENT BIF ( NETWORK )*>\n'
        "<!ATTLIST BIF VERSION CDATA #REQUIRED>\n]>\n"
        '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><!-- remark --><VARIABLE TYPE="nature"><NAME>a</NAME>'
        "<OUTCOME>x</OUTCOME><OUTCOME><![CDATA[<y>]]></OUTCOME><PROPERTY>position = (1, 2)</PROPERTY>"
        "</VARIABLE><DEFINITION><FOR>a</FOR><TABLE>1.0E-1 .9</TABLE></DEFINITION></NETWORK></BIF>"
    ],
}
ROOT = {  # a network of one node, by its probabilities
    "bif": "network n {{ }}\nvariable a {{ type discrete [ 2 ] {{ x, y }}; }}\n"
    "probability ( a ) {{ table {}, {}; }}",
    "net": "node a {{ states = (x y); }}\npotential (a) {{ data = ({} {}); }}",
    "dsc": 'belief network "n"\nnode a {{ type : discrete [ 2 ] = {{ "x", "y" }}; }}\n'
    "probability ( a ) {{ {}, {}; }}",
    "uai": "BAYES 1 2\n1 1 0\n2 {} {}",
    "json": '{{"pgm": 1, "nodes": [\n{{"name": "a", "states": ["x", "y"],\n"table": [[{}, {}]]}}]}}',
    "xmlbif": '<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><VARIABLE TYPE="nature"><NAME>a</NAME>\n'
    "<OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>\n"
    "<DEFINITION><FOR>a</FOR><TABLE>{} {}</TABLE></DEFINITION></NETWORK></BIF>",
    "xdsl": '<smile version="1.0" id="n"><nodes>\n<cpt id="a"><state id="x" /><state id="y" />\n'
    "<probabilities>{} {}</probabilities></cpt></nodes></smile>",
}
SLOWEST = 1.0  # seconds of this thread
LARGEST = 200 << 20  # bytes


def write(net: Any, format: str, *, expand: bool = False) -> bytes:
    file = io.BytesIO()
    pgm.write(net, file, format=format, expand=expand)
    return file.getvalue()


def read(data: bytes, format: str) -> Any:
    return pgm.read(io.BytesIO(data), format=format)


# --- round trips --------------------------------------------------------------------------------------------

_CHARACTERS = "ab1_Zé日😀 /\\<>&+\"'=-.,;:|(){}[]%#@!?*~^$\xa0\u200d\u2028\t\n\r"
_PIECES = [
    "]]>",
    "<!--",
    "&amp;",
    "&#10;",
    "//",
    "/*",
    "*/",
    "default",
    "table",
    "node",
    "a_b",
    "a b",
    "s_1",
    "true",
]
_NAMES = st.text(st.sampled_from(_CHARACTERS), min_size=1, max_size=6) | st.sampled_from(_PIECES)


@st.composite
def networks(draw: st.DrawFn) -> pgm.BayesianNetwork:
    """Draw networks of tables with names that are hard to write."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    net = pgm.BayesianNetwork(draw(st.just("") | _NAMES))
    for name in draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True)):
        states = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
        parents = (
            draw(st.lists(st.sampled_from(list(net.variables)), max_size=2, unique=True)) if len(net) else []
        )
        shape = [*(net.variables[parent].card for parent in parents), len(states)]
        values = rng.dirichlet([rng.choice([0.01, 1, 100])] * shape[-1], size=shape[:-1])
        try:
            net.add(name, values, parents=parents, states=states)
        except pgm.InvalidVariable:  # "1" and "1.0" are one state
            assume(False)
    return net


def check_round_trip(net: pgm.BayesianNetwork, format: str) -> None:
    """Write and read a network of tables; names, orders and bits must be the same."""
    try:
        data = write(net, format)
    except pgm.InvalidArgument:
        texts = [net.name, *net.variables, *(s for v in net.variables.values() for s in v.states)]
        assert set("".join(texts)) & set(MAY_REFUSE.get(format, ""))
        return
    again = read(data, format)
    assert isinstance(again, pgm.BayesianNetwork)
    mine = {name: variable.states for name, variable in net.variables.items()}
    theirs = {name: variable.states for name, variable in again.variables.items()}
    if format in NAMELESS:
        names = dict(zip(mine, theirs, strict=True))
    else:
        assert again.name == net.name
        assert list(theirs.items()) == list(mine.items())
        names = {name: name for name in mine}
    for name, other in names.items():
        assert again.parents(other) == tuple(names[parent] for parent in net.parents(name))
        assert again.cpd(other).values.shape == net.cpd(name).values.shape
        assert again.cpd(other).values.tobytes() == net.cpd(name).values.tobytes()
    assert write(again, format) == data


# --- fuzz ---------------------------------------------------------------------------------------------------


def models() -> Iterator[Any]:
    """Yield small models of all kinds, of which each format writes what it can."""
    net = pgm.BayesianNetwork("wet grass")
    net.add("rain", {"no": 0.8, "a <b>": 0.2})
    net.add("sprinkler on", {"no": 0.3, "yes": 0.7})
    net.add("wet", {("no", "no"): 0.1, ...: 0.9}, parents=["rain", "sprinkler on"])
    yield net
    net = net.copy()
    net.add("slip", pgm.NoisyOr({"wet": 0.5, "rain": 0.25}, leak=0.125))
    net.add("pain", pgm.NoisyMax({"slip": {True: [0.5, 0.25, 0.25]}}), states=["none", "some", "much"])
    net.add("bad", pgm.Deterministic(lambda pain, wet: pain != "none" and wet))
    yield net
    net = pgm.BayesianNetwork()
    net.add("x", pgm.Gaussian(1.0, 2.0))
    net.add("y", pgm.LinearGaussian({"x": 0.5}, sd=1.5))
    yield net
    diagram = pgm.InfluenceDiagram("to go?", "limited")
    diagram.add_chance("rain", {"no": 0.8, "a <b>": 0.2})
    diagram.add_decision("go out", ["no", "yes"], observes=["rain"])
    diagram.add_chance("wet", {("no", "no"): 0.1, ...: 0.9}, parents=["rain", "go out"])
    diagram.add_utility("u 1", {(False, "no"): 1.5, ...: -1e-3}, parents=["wet", "go out"])
    diagram.add_utility("u2", 3.0)
    yield diagram.copy()
    diagram.add_utility("sum", {"u 1": 2.0, "u2": -1.0}, parents=["u 1", "u2"])
    yield diagram
    yield diagram.solve()
    markov = pgm.MarkovNetwork()
    markov.add_variable("a", ["x", "y"])
    markov.add_variable("b", [0, 1, 2])
    markov.add_factor(["a", "b"], [[1.0, 2.0, 3.0], [4.0, 5.0, 0.5]])
    yield markov


@cache
def seeds(format: str) -> tuple[bytes, ...]:
    found = [text.encode() for text in MORE_SEEDS.get(format, [])]
    for model in models():
        try:
            found.append(write(model, format, expand=True))
            found.append(write(model, format))
        except pgm.InvalidArgument:
            continue
    assert found
    return tuple(dict.fromkeys(found))


_LARGEST = 50_000  # bytes of a broken file
_WORD = re.compile(rb"[A-Za-z_]+|[0-9.]+|[^\sA-Za-z0-9_.]")
_NUMBERS = (b"999999999999999", b"-1", b"0", b"1e308", b"1e999", b"nan", b"2147483648", b"0.5", b"9" * 5000)
_BYTES = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"<",
    b">",
    b"&",
    b"{",
    b"[",
    b"(",
    b"}",
    b"\\",
    b"%",
    b"\n",
    b"//",
)


def _some_word(rng: random.Random, data: bytes) -> re.Match[bytes] | None:
    """The first word behind a place, so that a long file costs no more than a short one."""
    return _WORD.search(data, rng.randrange(len(data))) if data else None


def mutant(rng: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """Return a file with some faults: bytes flipped, parts lost, doubled, moved, nested or made huge."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        word, other, third = (_some_word(rng, data) for _ in range(3))
        if word is None or other is None or third is None:
            break
        at = rng.randrange(len(data))
        a, b = sorted((other.start(), third.end()))
        part = data[a : min(b, a + 200)]
        times = rng.choice((2, 3, 10, 100)) if rng.random() < 0.99 else 100_000
        match rng.randrange(9):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at]
            case 2:
                data = data[:a] + data[b:]
            case 3:
                data = data[:a] + part * times + data[a:]
            case 4:  # deep nesting of whatever opens here
                few = min(times, _LARGEST // len(word[0]))  # a word may be long: no more than is kept below
                data = data[: word.start()] + word[0] * few + data[word.end() :]
            case 5:
                data = data[: word.start()] + rng.choice(_NUMBERS) + data[word.end() :]
            case 6:
                data = data[: word.start()] + other[0] + data[word.end() :]
            case 7:
                data = data[:at] + rng.choice(_BYTES) + data[at:]
            case 8:
                data = data[:at] + part + data[at:]
        data = data[:_LARGEST]
    return data


def check_refusals(format: str, cases: int, seed: int) -> None:
    """Read so many broken files; each is read or refused with a PGMError, at once and in little memory."""
    rng = random.Random(seed)
    files = seeds(format)
    reset_peak()
    before = memory("VmRSS")
    for number in range(cases):
        data = mutant(rng, files)
        try:
            took, message = timed(data, format)
            if took >= SLOWEST:  # slow twice, or was it the garbage collector?
                took, _ = timed(data, format)
        except Exception as error:
            raise AssertionError(f"case {number}: {error!r} for {data[:3000]!r}") from error
        assert len(message) < 2000, f"case {number}: {message!r} for {data[:3000]!r}"
        assert took < SLOWEST, f"case {number}: {took:.1f} s for {len(data)} bytes: {data[:3000]!r}"
    assert memory("VmHWM") - before < LARGEST


def timed(data: bytes, format: str) -> tuple[float, str]:
    """Read a file: the seconds of this thread, and the error's message, if any."""
    message = ""
    begun = time.thread_time()
    try:
        read(data, format)
    except pgm.PGMError as error:
        message = str(error)
    return time.thread_time() - begun, message


def reset_peak() -> None:
    """Let the system measure the peak of memory anew, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


_PEAK = """
import json, sys
from pathlib import Path
import pgm
from tests.io.formats import read, reset_peak
from tests.machine import memory
path, format, limit = sys.argv[1:]
read(Path(path + ".small").read_bytes(), format)
reset_peak()
before = memory("VmRSS")
with pgm.config(memory_limit=limit):
    try:
        pgm.read(path, format=format)
        said = ""
    except pgm.PGMError as error:
        said = type(error).__name__
print(json.dumps([said, memory("VmHWM") - before]))
"""


def peak(folder: Path, content: bytes, small: bytes, format: str, limit: str = "4 GB") -> tuple[str, int]:
    """Read a file in a process of its own: the name of the error, if any, and the memory that it took.

    The small file is read before, so that what every file takes is not counted.
    """
    path = folder / "file"
    path.write_bytes(content)
    (folder / "file.small").write_bytes(small)
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path), format, limit], check=True, capture_output=True, text=True
    )
    said, used = json.loads(done.stdout)
    return said, used
