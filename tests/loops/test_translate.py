"""The translator on small loops: what it takes, what it refuses, and what becomes of arguments."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from build_loops import compiler
from build_loops.source import Refused, Source
from tests.loops import replay

needs_compiler = pytest.mark.skipif(replay.COMPILER is None, reason="no C++ compiler is installed")

HEAD = """
from __future__ import annotations
import math
from typing import NamedTuple
import numpy as np
from typing import Annotated
from pgm.runtime.apart import apart
from pgm.runtime.kinds import Bytes, Flag, Floats, FloatTable, Ints, Ints32

Blocks = Annotated[np.ndarray, "int32", 3]
Truths = Annotated[np.ndarray, "bool", 1]
LIMIT, SMALL = 3, 2.0**-3
"""

LOOPS = (
    HEAD
    + '''

class Pair(NamedTuple):
    at: Ints
    values: Floats


def arithmetic(a: int, b: int, x: float, y: float):
    """As Python has it: floors, remainders, shifts, mixed kinds, chains, conditions."""
    some = (a // b, a % b, -a // b, -a % b, a // -b, a % -b, a << 3, a >> 1, a ^ b, a & b, a | b, ~a)
    kept = 0
    if 0 < a <= 7 and not b > 3 or a in (2, 9):
        kept = 1.5
    m, e = math.frexp(x)
    more = math.ldexp(m, e + 2) + math.floor(y) + int(y) + abs(-a) + SMALL
    first, second = (x, y) if a > b else (y, x)
    return some, kept, e, more, max(a, 2, b), min(x, y, 0), first / second, 2.0**y, LIMIT + True


def arrays(p: Pair, flags: Bytes, table: FloatTable):
    """Slices as in Python, rows, places that change in place, new arrays, of several kinds."""
    n = p.at.size
    out = np.full(n + 1, -1, np.int32)
    for i in range(n - 1, -1, -1):
        out[i] = p.at[i] * 2
        flags[i] |= 1
    out[-1] = 5
    part = p.values[1:99]
    part[:] = 0.5
    part[0], part[1] = part[1] + 1, part[0] + 2
    table[1] = table[0]
    table[0, :2] = p.values[:2]
    total = 0.0
    for row in range(table.shape[0]):
        for x in table[row]:
            total += x
    keys = np.argsort(p.values, kind="mergesort")
    return out, out[1:-1], out[:0], np.zeros((2, n)), np.arange(n).astype(np.int32), total, keys, p.at


def functions(x: Floats, out: FloatTable):
    """Those of math, a row for each."""
    for i in range(x.size):
        out[0, i], out[1, i], out[2, i] = math.erf(x[i]), math.erfc(x[i]), math.sin(x[i])
        out[3, i], out[4, i], out[5, i] = math.cos(x[i]), math.tanh(x[i]), math.fabs(x[i])
        out[6, i], out[7, i] = math.isnan(x[i]), math.isfinite(x[i])
        if math.isfinite(x[i]) and abs(x[i]) < 1e18:
            out[8, i] = math.ceil(x[i])
        if x[i] > 0.0:
            out[9, i] = math.lgamma(x[i])


def log_gamma(x: float):
    """One of them alone."""
    return math.lgamma(x)


def order(keys: Floats):
    """Those that are not numbers last, what is alike in its order."""
    return np.argsort(keys, kind="mergesort")


def blocks(table: Blocks, keep: Truths):
    """Three axes, and truths as entries."""
    seen = np.zeros(table.shape[2], np.bool_)
    made = np.zeros((table.shape[1], 2, table.shape[2]), np.int32)
    total = 0
    for i in range(table.shape[0]):
        if not keep[i]:
            keep[i] = table[i, 0, 0] > 3
            continue
        for j in range(table.shape[1]):
            made[j, 1] = table[i, j]
            for k in range(table.shape[2]):
                total += int(table[i, j, k]) << 40
                seen[k] |= table[i, j, k] % 2 == 1
                table[i, j, k] += 1
    table[0, :] = 0 if total < 0 else table[0, 1, 1]
    return total, seen, made, table.size


def _grown(array, size):
    if size <= array.size:
        return array
    larger = np.zeros(2 * size, array.dtype)
    larger[: array.size] = array
    return larger


def growing(n: int):
    """Room that is dropped on the way, and room that is not."""
    kept, other = np.empty(1, np.int64), np.ones(1)
    for i in range(n):
        kept = _grown(kept, i + 1)
        other = _grown(other, 1000 * (i + 1))
        kept[i] = i
        spare = np.empty(100_000)
        spare[0] = 1.0
    return kept[:n].copy(), other.size


def _weighed(k, table, w, out):
    for j in apart(k):
        x = w[0] * table[j] + w[1] * table[k + j]
        out[j] = x if x > 0.5 else out[j] - x


def steps_apart(table: Floats, w: Floats, out: Floats):
    """Steps that have nothing to do with each other, in a function whose size is known where it is called."""
    if out.size == 8:
        _weighed(8, table, w, out)
    else:
        _weighed(out.size, table, w, out)
    for j in apart(1, out.size):
        out[j] *= 2.0
    return out.size


def entry(array: Floats, i: int):
    """One entry."""
    return array[i]


def rest(array: Floats):
    """A part of an argument."""
    return np.ones(2), array[1:]


def wait(stop: Flag):
    """Until another thread says so."""
    turns = 0
    while stop[0] == 0:
        turns += 1
    return 1


def many_loops(n: int):
    """More loops than the 64 bits of a whole number, which has a name like a counter's in C++."""
    total = 0
'''
    + "".join(f"    for i in range(n):\n        total = 3 * total + i + {k}\n" for k in range(70))
    + "    return total\n"
)


def written(folder: Path, text: str) -> tuple[str, ModuleType]:
    """The C++ of a text, and the text as Python reads it."""
    path = folder / "compiled.py"
    path.write_text(text)
    (folder / "pgm").symlink_to(replay.ROOT / "pgm")
    module = ModuleType("plain")
    exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    return compiler.translated(path, folder), module


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    """Interpreted, and compiled with every index tested."""
    text, plain = written(tmp_path_factory.mktemp("loops"), LOOPS)
    return plain, replay.extension(replay.build(text, "baseline", compiler.CHECKED))


@needs_compiler
@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -3), (-8, -3), (2, 5), (0, 1), (2**61, -1)])
@pytest.mark.parametrize(("x", "y"), [(0.3, -2.7), (-1e300, 1e-310), (5e-324, 3.0), (2.0, -0.5)])
def test_arithmetic(forms: tuple[ModuleType, ModuleType], a: int, b: int, x: float, y: float) -> None:
    a = min(a, 2**59)
    plain, compiled = (form.arithmetic(a, b, x, y) for form in forms)
    assert replay.same(plain, compiled), (plain, compiled)


@needs_compiler
def test_a_function_may_have_more_than_sixty_four_loops(forms: tuple[ModuleType, ModuleType]) -> None:
    with np.errstate(over="ignore"):
        assert forms[1].many_loops(2) == (forms[0].many_loops(2) + 2**63) % 2**64 - 2**63


@needs_compiler
def test_steps_that_are_apart(forms: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    text, _ = written(tmp_path, LOOPS)
    assert text.count("#pragma omp simd private(v_j") == 2
    rng = np.random.default_rng(3)
    for form in (forms[1], replay.extension(replay.build(text))):
        for k in (1, 8, 11):
            table, w, out = rng.normal(size=2 * k), rng.normal(size=2), rng.normal(size=k)
            plain, compiled = out.copy(), out.copy()
            assert forms[0].steps_apart(table, w, plain) == form.steps_apart(table, w, compiled) == k
            assert plain.tobytes() == compiled.tobytes()


@needs_compiler
def test_functions_have_the_bits_of_python(forms: tuple[ModuleType, ModuleType]) -> None:
    """What Python works out with the library of C has its bits; lgamma is Python's own, and so it is here."""
    rng = np.random.default_rng(8)
    special = [
        0.0,
        -0.0,
        0.5,
        1.0,
        2.0,
        3.0,
        5.0,
        1e-21,
        1e-20,
        5e-324,
        1e17,
        2.5e305,
        np.inf,
        -np.inf,
        np.nan,
    ]
    near = np.nextafter([1.0, 1.0, 2.0, 2.0, 5.0, 5.0], [0.0, 9.0] * 3)
    many = [rng.normal(size=5000) * 10, rng.integers(1, 2000, 3000) / 2, np.exp(rng.normal(size=5000) * 20)]
    found = []
    for form, x in zip(forms, [np.array(special), np.array(special)], strict=True):
        x[~np.isfinite(x)] = 7.0  # of which Python has no sine
        out = np.zeros((10, x.size + near.size + sum(map(np.size, many))))
        form.functions(np.concatenate([x, near, *many]), out)
        found.append(out)
    assert replay.same(*found)
    ends = np.zeros((10, 2))
    forms[1].functions(np.array([np.nan, -np.inf]), ends)
    assert ends[6:8].tolist() == [[1, 0], [0, 0]]
    assert [forms[1].log_gamma(x) for x in (np.inf, 1.0)] == [np.inf, 0.0]
    assert np.isnan(forms[1].log_gamma(np.nan))
    for x in (0.0, -0.5, -3.0, -np.inf):
        with pytest.raises(ValueError, match="lgamma of a number that is not positive"):
            forms[1].log_gamma(x)


@needs_compiler
def test_what_is_no_number_is_sorted_last(forms: tuple[ModuleType, ModuleType]) -> None:
    rng = np.random.default_rng(9)
    for n in range(40):
        keys = rng.choice([np.nan, -np.inf, np.inf, 0.0, -0.0, 1.0, 2.0], n)
        assert forms[0].order(keys).tolist() == forms[1].order(keys).tolist(), keys


@needs_compiler
def test_three_axes_and_truths(forms: tuple[ModuleType, ModuleType]) -> None:
    found = []
    for form in forms:
        table = np.random.default_rng(2).integers(-9, 9, (4, 2, 3)).astype(np.int32)
        keep = np.array([True, False, True, False])
        found.append((form.blocks(table, keep), table, keep))
    assert replay.same(*found)
    assert found[1][0][1].dtype == bool
    assert found[1][0][2].shape == (2, 2, 3)


@needs_compiler
def test_arrays(forms: tuple[ModuleType, ModuleType]) -> None:
    found = []
    for form in forms:
        pair = (np.arange(4), np.array([3.0, -1.0, 2.0, -1.0]))
        pair = forms[0].Pair(*pair)
        flags, table = np.array([0, 1, 2, 255], np.uint8), np.arange(6.0).reshape(2, 3)
        found.append((form.arrays(pair, flags, table), pair, flags, table))
        assert found[-1][0][-1] is pair.at
    assert replay.same(*found)


@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory are tried on Linux")
def test_room_is_given_back_inside_a_loop(tmp_path: Path, forms: tuple[ModuleType, ModuleType]) -> None:
    """At once where indices are tested; in the form that is used, once some has come together."""
    import resource

    text, plain = written(tmp_path, LOOPS)
    fast = replay.extension(replay.build(text))
    room = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 100_000_000
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (room, before[1]))
    try:
        found = [form.growing(3000) for form in (plain, forms[1], fast)]  # 2.4 GB, were nothing given back
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert replay.same(found[0], found[1])
    assert replay.same(found[0], found[2])


@needs_compiler
def test_results_outlive_each_other(forms: tuple[ModuleType, ModuleType]) -> None:
    first, _ = forms[1].growing(10)
    view = first[3:]
    del first
    assert view.tolist() == list(range(3, 10))


@needs_compiler
@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("entry", (np.zeros(3), 3), IndexError),
        ("entry", (np.zeros(3), -1), IndexError),  # counted from the end by Python: no loop does that
        ("entry", (np.zeros(3, np.float32), 0), TypeError),
        ("entry", (np.zeros((3, 1)), 0), TypeError),
        ("entry", (np.zeros(6)[::2], 0), (ValueError, BufferError)),
        ("entry", (np.zeros(3), 0.5), TypeError),
        ("entry", (np.zeros(3),), TypeError),
        ("arithmetic", (1, 0, 1.0, 1.0), ZeroDivisionError),
        ("arithmetic", (2**70, 1, 1.0, 1.0), OverflowError),
        ("rest", (np.zeros(3),), SystemError),
        ("arrays", ((np.arange(4),), np.zeros(4, np.uint8), np.zeros((2, 3))), TypeError),
    ],
)
def test_bad_arguments_are_errors(
    forms: tuple[ModuleType, ModuleType], name: str, args: Any, error: Any
) -> None:
    with pytest.raises(error):
        getattr(forms[1], name)(*args)


@needs_compiler
def test_what_is_written_must_be_writable(forms: tuple[ModuleType, ModuleType]) -> None:
    flags = np.zeros(2, np.uint8)
    flags.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        forms[1].arrays((np.arange(2), np.zeros(2)), flags, np.zeros((2, 3)))
    assert forms[1].entry(np.frombuffer(np.arange(3.0).tobytes()), 2) == 2.0


@needs_compiler
def test_a_flag_is_seen_and_the_lock_is_free(tmp_path: Path) -> None:
    """In the form that is used, not the checked one: a compiler may not lift the look out of the loop."""
    text, _ = written(tmp_path, LOOPS)
    compiled = replay.extension(replay.build(text))
    stop = np.zeros(1, np.uint8)
    thread = threading.Thread(target=compiled.wait, args=(stop,), daemon=True)
    thread.start()
    time.sleep(0.05)  # this thread runs on meanwhile
    stop[0] = 1
    thread.join(20)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [x for x in a]", "a loop cannot have"),
        ("try:\n        pass\n    except ValueError:\n        pass", "a loop cannot have"),
        ("b = 1\n    b = a", "b is"),
        ("return unheard_of(a)", "no loop is named unheard_of"),
        ("return math.gamma(a[0])", "loops do not have math.gamma, or not so: write math.lgamma"),
        ("return np.log(a[0])", "loops do not have np.log, or not so: write math.log"),
        ("return len(a)", "no loop is named len: write a.size or a.shape[0]"),
        ("a.fill(0.0)", "has no fill() here: write a[:] = x"),
        ("return a.mean()", "has no mean() here"),
        ("return a.sum()", "has no sum() here"),
        ("return a[::2]", "a slice has no step here"),
        ("return np.zeros((2, 3, 2))[:, 0]", "only the last of several subscripts may be a slice"),
        ("a[0] = a", "is needed"),
        ("n = a.size\n    a[0] += _touch(a) + _touch(a)", "two calls"),
        ("if a[0] > 0:\n        return 1", "does not return something on every path"),
        (
            "while later:\n        later = a[0] > 1\n    return 1",
            "later is no variable that was given a value above",
        ),
        ("k += 1\n    return k", "k is no variable that was given a value above"),
        ("return loop(a)", "loop calls itself"),
        ("a = a.size\n    return a", "a is Array<float, 1> here and int there"),
        ("return _half(a.size)", "x is given as another kind than float: use another name"),
        ("k = a.size\n    k[0] = 1", "has no entries"),
        ("return a & 1", "is no number"),
        ("return 2**64", "no number for a loop"),
        ("print(a)", "no loop is named print"),
        ("yield 1", "a loop cannot have"),
        ("return a.shape", "has no shape here"),
        ("return a.shape[-1]", "one of 1 is said by a number from 0"),
        ("return a[a.size > 1]", "a truth is no index"),
        ("return a[0.5]", "int is needed, float is given"),
        ("return a[0, 0]", "Array<float, 1> has not so many axes"),
        ("return a + a", "is no number: name its entries"),
        ("a += 1.0", "is no number: name its entries"),
        ("return a if a.size else 1", "Array<float, 1> here and int there"),
        ("return a.size or 1", "and, or: of truths"),
        ("return 1 // 0", "by zero"),
        ("return a.size ** 2", "powers are of floats: of two, write 1 << k"),
        ("return a.size @ 2", "an operator that loops do not have"),
        ("return a[0] % 2.0", "whole numbers are needed"),
        ("return np.uint64(1) + a.size", "uint64 is needed, int is given"),
        ("return np.zeros(2, np.float32)", "no kind of entry: np.float32"),
        (
            "return np.zeros(2, dtype=np.int64)",
            "calls have no keywords here: write np.int64 without its name",
        ),
        ("return np.zeros()", "takes 1 or 2 arguments here"),
        ("return np.full(2)", "takes 2 or 3 arguments here"),
        ("return np.array([])", "loops do not have np.array, or not so"),
        ("return np.sort(a)", "loops do not have np.sort, or not so"),
        ("return a.astype()", "a.astype takes 1 arguments here"),
        ("return math.ldexp(a[0])", "math.ldexp takes 2 arguments here"),
        ("for i in range():\n        pass", "range takes 1 to 3 numbers"),
        ("for i in ():\n        pass", "a loop goes over a range, a tuple or an array"),
        ("for i in range(3):\n        pass\n    else:\n        pass", "a loop has no else here"),
        ("x = 0.0\n    for i in apart(a.size):\n        x += a[i]", "steps that are apart have no loop"),
        ("for i in apart(a.size):\n        break", "are apart have no loop, no way out and no sum"),
        ("for i in apart(0, a.size, 2):\n        a[i] = 0.0", "apart takes 1 or 2 numbers"),
        ("b, c = a", "cannot be taken apart into 2"),
        ("b = (1, a)\n    return b[2]", "one of 2 is said by a number from 0"),
        ("b: int = 1", "a loop cannot have"),
        ("return _touch(*a)", "a star is for tuples"),
        ("return _touch()", "_touch takes 1 arguments"),
        ("return Two(1)", "Two takes 2 arguments here"),
    ],
)
def test_what_is_not_taken_is_refused_with_its_line(tmp_path: Path, body: str, said: str) -> None:
    two = "\n\nclass Two(NamedTuple):\n    first: int\n    second: int\n"
    touch = "\n\ndef _touch(a):\n    a[0] = 1.0\n    return 1.0\n"
    half = "\n\ndef _half(x):\n    x = x / 2\n    return x\n"
    head = f"{HEAD}{two}{touch}{half}\n\ndef loop(a: Floats):\n"
    line = len(head.splitlines())
    (tmp_path / "pgm").symlink_to(replay.ROOT / "pgm")
    (tmp_path / "compiled.py").write_text(f"{head}    {body}\n")
    with pytest.raises(Refused, match=r"compiled\.py:\d+: ") as error:
        compiler.translated(tmp_path / "compiled.py", tmp_path)
    text = str(error.value)
    assert said in text
    assert line - 7 * (body == "return _half(a.size)") <= int(text.split(":")[1]) <= line + 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def loop(a):\n    return 1", "loop is called by Python, so its arguments are annotated"),
        ("def loop(a: Floats, b):\n    return 1", "loop is called by Python"),
        ("def loop(a: float = 1.0):\n    return a", "names only: no *, no defaults"),
        ("def loop(*a):\n    return 1", "names only"),
        ("def loop(a: np.ndarray):\n    return 1", "an annotation is the name of a kind"),
        ("def loop(a: Unheard):\n    return 1", "no kind of value is named Unheard"),
        ("def loop(a: int):\n    return Two(a, a)", "returns a named tuple"),
    ],
)
def test_heads_that_are_not_taken_are_refused_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pgm").symlink_to(replay.ROOT / "pgm")
    two = "\n\nclass Two(NamedTuple):\n    first: int\n    second: int\n"
    head = f"{HEAD}{two}\n\n"
    (tmp_path / "compiled.py").write_text(f"{head}{text}\n")
    with pytest.raises(Refused, match=rf"compiled\.py:{len(head.splitlines()) + 1}: ") as error:
        compiler.translated(tmp_path / "compiled.py", tmp_path)
    assert said in str(error.value)


@pytest.mark.parametrize("name", replay.modules())
def test_every_file_of_loops_is_taken_and_what_python_calls_is_annotated(name: str) -> None:
    path = replay.modules()[name]
    text = compiler.translated(path, replay.ROOT)
    for function, node in Source.of(path, replay.ROOT).functions.items():
        if not function.startswith("_"):
            assert all(a.annotation for a in node.args.args), function
            assert f"py_{function}(" in text
