"""JSON of our own: a file is not believed before it is checked, and what is wrong with it is said with its place."""

# ruff: noqa: E501 (a case is a line)
from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pgm
from tests.io.models import NASTY, add, all_bits
from tests.io.test_json import SCHEMA, WET, read, written


def bad(text: str) -> str:
    with pytest.raises(pgm.FileFormatError) as error:
        read(text)
    return str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # no JSON at all
        (WET, "", "1:1: expected a value, found the end of the file"),
        (WET, "network unknown {", "1:1: expected a value, found 'network'"),
        (WET, "[]", "1:1: this is not a model of pgm, which is an object that begins"),
        (WET, '{"nodes": []}', "1:1: this is not a model of pgm"),
        ("\n  ]\n}", "\n  ]", "16:1: expected ',' or the bracket that closes, found the end of the file"),
        ('"rain", "states"', '"rain" "states"', "5:21: expected ',' or the bracket that closes, found '\"states\"'"),
        ('"name": "rain"', '"name" "rain"', "5:13: expected ':' after a key, found '\"rain\"'"),
        ('{"name": "rain"', '{name: "rain"', "5:6: expected a key in double quotes, found 'name'"),
        ('"rain",', '"rain', "5:"),
        ("0.8", ".8", "5:58: expected a value, found '.8'"),
        ("0.8", "NaN", '5:58: NaN is not JSON; infinity is written "inf"'),
        ("0.8", "-Infinity", "5:58: -Infinity is not JSON"),
        ("0.8", "1" + "0" * 5000, "5:58: a number has too many digits"),
        ("0.8", "1e999", "5:58: expected a number of the table, found inf"),
        ("0.8", "1" + "0" * 400, "5:58: expected a number of the table, found 1000"),
        ('"wet grass"', r'"\x"', "3:12: a backslash that does not begin an escape"),
        ("]\n}\n", "]\n}\n}", "17:1: expected the end of the file, found '}'"),
        # keys
        ('"name": "wet grass"', '"nmae": "wet grass"', "3:3: 'nmae' is not a key of a network; "),
        ('"name": "wet grass"', '"nmae": "wet grass"', "Did you mean 'name'?"),
        ('"name": "wet grass"', '"pgm": 1', "3:3: the key 'pgm' appears twice"),
        ('"table": [[0.8', '"tabel": [[0.8', "5:47: 'tabel' is not a key of a node; "),
        ('"name": "rain", ', "", "5:5: a node has no 'name'"),
        ('"name": "wet grass"', '"name": 3', "3:11: expected a text, found 3"),
        # versions
        ('"pgm": 1', '"pgm": 3', "2:10: this file is of version 3 of the format, and this program reads version 2"),
        ('"pgm": 1', '"pgm": "1"', "2:10: expected the version of the format, a whole number from 1, found '1'"),
        ('"pgm": 1', '"pgm": true', "2:10: expected the version of the format, a whole number from 1, found true"),
        # variables
        ('["no", "yes"]', '["no", "no"]', "5:32: 'rain': The state 'no' appears twice."),
        ('["no", "yes"]', "[1, true]", "5:32: 'rain': The states 1 and True would be confused"),
        ('["no", "yes"]', "[]", "5:32: 'rain': There must be at least one state."),
        ('["no", "yes"]', '["no", null]', "5:39: expected a state: text, a number, true, false, or a list of these"),
        ('["no", "yes"]', '["no", {"a": 1}]', "5:39: expected a state: text, a number, true, false"),
        ('["no", "yes"]', '"no"', "5:32: expected a list of states, found 'no'"),
        ('"states": ["no", "yes"]', '"bins": [1, 0]', "5:30: The edges of Bins must increase; 1 comes before 0."),
        ('"states": ["no", "yes"]', '"bins": [1, "x"]', "5:34: expected an edge, "),
        ('"name": "rain"', '"name": " "', "5:14: expected the name of a variable, found ' '"),
        ('"name": "wet",', '"name": "rain",', "7:15: a second node 'rain'"),
        ('["rain"]', '["rian"]', "9:19: there is no node 'rian'. Did you mean 'rain'?"),
        ('["rain"]', '["rain", "rain"]', "9:27: 'rain' appears twice"),
        ('["rain"]', '["wet"]', "9:19: a node cannot be its own parent"),
        ('["rain"]', "[1]", "9:19: expected a name, found 1"),
        ('"states": ["no", "yes"], ', "", "5:22: 'rain' has no states: its distribution is \"linear-gaussian\""),
        # tables
        (', "table": [[0.8, 0.2]]', "", "5:5: 'rain' has no distribution, and a node has one (table, "),
        ("[[0.8, 0.2]]", '[[0.8, 0.2]], "parity": "odd"', "5:5: 'rain' has 2 distributions, and a node has one"),
        ("[[0.8, 0.2]]", "[[0.8, 0.2], [0.8, 0.2]]", "5:56: the table: 1 row expected, found 2"),
        ("[[0.8, 0.2]]", "[[0.8]]", "5:57: the table: a row of 2 numbers expected, found 1"),
        ("[[0.8, 0.2]]", "[0.8, 0.2]", "5:56: the table: 1 row expected, found 2"),
        ("[[0.8, 0.2]]", "[0.8]", "5:57: expected a row of 2 numbers of the table, found 0.8"),
        ("[[0.8, 0.2]]", '"uniform"', "5:56: expected the table, a list of rows, found 'uniform'"),
        ("0.8", "0.7", "5:56: 'rain': the probabilities sum to 0.9, not to 1."),
        ("[0.9, 0.1]", "[1.1, -0.1]", "10:16: 'wet', row rain='no': the probability of True is -0.1, not from 0 to 1."),
        ("0.8", "true", "5:58: expected a number of the table, found true"),
        ("0.8", "null", "5:58: expected a number of the table, found null"),
        ("0.8", '"0.8"', "5:58: expected a number of the table, found '0.8'"),
        ("0.8", "[0.8]", "5:58: expected a number of the table, found a list"),
    ],
)  # fmt: skip
def test_a_broken_file_says_where_and_what_was_expected(old, new, message):
    assert old in WET
    found = bad(WET.replace(old, new, 1))
    assert found.startswith("net.json:")
    assert message in found
    assert all(line.startswith("net.json:") for line in found.splitlines())  # a line for each refusal


ROOTS = '{"name": "a", "states": [false, true], "table": [[0.5, 0.5]]}, '
NUMBER = '{"name": "n", "linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}}, '
TREE = (
    '"tree": {"nodes": [{"ask": "a", "branches": [{"if": [false], "row": 0}, {"if": [true], "row": 1}]}], '
    '"rows": [[0.5, 0.5], [0.1, 0.9]]}'
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('"function": [true]', "a state for each of 2 configurations expected, found 1"),
        ('"function": [true, 7]', "'x' has no state 7; it has False, True."),
        ('"noisy-or": {"causes": {"b": 0.5}, "leak": 0}', "'b' is not a key of the causes; it has 'a'."),
        ('"noisy-or": {"causes": {}, "leak": 0}', "the causes has no 'a'"),
        ('"noisy-or": {"causes": {"a": 2}, "leak": 0}', "needs a probability from 0 to 1, not 2"),
        ('"noisy-or": {"causes": {"a": "x"}, "leak": 0}', "expected the probability of a cause, a number"),
        ('"noisy-or": {"causes": {"a": [null]}, "leak": 0}', "expected a row or null for each of the 2 states"),
        ('"noisy-or": {"causes": {"a": [null, [1]]}, "leak": 0}', "an effect: 2 numbers expected, found 1"),
        ('"noisy-or": {"causes": {"a": 1}, "leak": [1]}', "the leak: 2 numbers expected, found 1"),
        ('"noisy-or": {"causes": {"a": 1}, "leak": [1, 1]}', "the probabilities sum to 2, not to 1"),
        ('"noisy-or": {"causes": {"a": 1}}', "a noisy gate has no 'leak'"),
        ('"at-least": 2', "expected a count of parents, a whole number 0 to 1, found 2"),
        ('"exactly": true', "expected a count of parents, a whole number 0 to 1, found true"),
        ('"parity": "even"', "expected \"odd\", found 'even'"),
        ('"mixture": {"weights": {"a": 0.5}, "tables": {"a": [[1, 0], [0, 1]]}}', "weights sum to 0.5, not to 1"),
        ('"mixture": {"weights": {"a": 1}, "tables": {"a": [[1, 0]]}}', "the table: 2 rows expected, found 1"),
        ('"logistic": {"weights": {"a": [1]}, "bias": 0}', "a weight for each state: 2 numbers expected"),
        ('"logistic": {"weights": {"a": {"states": [true], "weights": []}}, "bias": 0}', "not have the same length"),
        ('"logistic": {"weights": {"a": {"states": [1, true], "weights": [1, 2]}}, "bias": 0}', "two weights"),
        ('"logistic": {"weights": {"a": {"states": [7], "weights": [1]}}, "bias": 0}', "'a' has no state 7"),
        ('"linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}', '"linear-gaussian" is for continuous nodes, and this'),
        (TREE.replace('"ask": "a"', '"ask": "b"'), "'b' is not a parent of 'x'"),
        (TREE.replace('"row": 1', '"row": 0'), "a second branch to this row"),
        (TREE.replace('"row": 1', '"row": 2'), "expected the index of a row, a whole number 0 to 1, found 2"),
        (TREE.replace('"row": 1', '"node": 0'), "expected the index of a node further down"),
        (TREE.replace('"row": 1', '"row": 1, "node": 1'), "a branch has either a node or a row"),
        (TREE.replace(', "row": 1', ""), "a branch has either a node or a row"),
        (TREE.replace("[true]", "[false]"), "'a' = False cannot reach this branch, or is listed twice"),
        (TREE.replace("[true]", "[]"), "expected the states that take this branch"),
        (TREE.replace(', {"if": [true], "row": 1}', ""), "no branch for 'a' = True"),
        (TREE.replace("[0.1, 0.9]]", "[0.1, 0.9], [1, 0]]"), "no node leads to this row"),
        (TREE.replace("[0.1, 0.9]", "[0.1, 0.8]"), "'x', row row=1: the probabilities sum to 0.9, not to 1"),
        (TREE.replace("[0.5, 0.5], [0.1, 0.9]", ""), "expected at least one row"),
        (TREE.replace("[{", '[{"ask": "a", "branches": []}, {', 1), "no branch for 'a' = False"),
    ],
)  # fmt: skip
def test_broken_distributions(body, message):
    text = (
        f'{{"pgm": 1, "nodes": [{ROOTS}{{"name": "x", "states": [false, true], "parents": ["a"], {body}}}]}}'
    )
    found = bad(text)
    assert message in found
    assert found.startswith("net.json:1:")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('"parents": ["n"], "states": [0, 1], "table": [[1, 0]]', "the parent 'n' is continuous"),
        ('"parents": ["n", "a"], "linear-gaussian": []', "the discrete parents of a linear Gaussian come first"),
        ('"parents": ["a"], "linear-gaussian": []', "one for each of 2 configurations of the discrete parents expected"),
        ('"parents": ["n"], "linear-gaussian": {"weights": {}, "bias": 0, "sd": 1}', "the weights has no 'n'"),
        ('"parents": [], "linear-gaussian": {"weights": {}, "bias": 0, "sd": -1}', "0 or more, not -1"),
        ('"linear-gaussian": {"weights": {}, "bias": 1e200, "sd": 1}', "a number of size up to 1e+100"),
        ('"linear-gaussian": {"weights": {}, "bias": "0", "sd": 1}', "expected the bias, a number, found '0'"),
    ],
)  # fmt: skip
def test_broken_numbers(node, message):
    assert message in bad(f'{{"pgm": 1, "nodes": [{ROOTS}{NUMBER}{{"name": "x", {node}}}]}}')


def test_a_cycle_is_refused():
    text = '{"name": "%s", "states": [0, 1], "parents": ["%s"], "table": [[1, 0], [0, 1]]}'
    nodes = ", ".join([text % ("a", "b"), text % ("b", "a")])
    assert "form a cycle: a -> b -> a" in bad(f'{{"pgm": 1, "nodes": [{nodes}]}}')


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ('{"of": ["a", "b"]}', "a factor has no 'values'"),
        ('{"values": [[1]]}', 'a factor has either "of", its variables, or "scopes"'),
        ('{"of": ["a", "c"], "values": [[1]]}', "there is no variable 'c'"),
        ('{"of": ["a", "a"], "values": [[1]]}', "'a' appears twice"),
        ('{"of": ["a", "b"], "values": [[1, 2, 3], [1, 2, -3]]}', "expected a value from 0 on"),
        ('{"of": ["a", "b"], "values": [[1, 2, 3], [1, 2, "-inf"]]}', "expected a number of the values"),
        ('{"of": ["a"], "log": true, "values": [[1, "inf"]]}', "expected a number of the values, found 'inf'"),
        ('{"of": ["a"], "log": true, "values": [[1, -1e10]]}', "expected a log value, of size up to 1e+09"),
        ('{"of": ["a"], "log": 1, "values": [[1, 2]]}', "expected true or false"),
        ('{"of": ["a"], "conditional": true, "values": [[1, 2]]}', "does not sum to one"),
        ('{"of": ["a"], "log": true, "conditional": true, "values": [[0, "-inf"]]}', "cannot be a conditional distribution"),
        ('{"of": ["a", "b"], "values": [[1, 2], [1, 2], [1, 2]]}', "the values: 2 rows expected, found 3"),
        ('{"scopes": [], "values": [[1, 2]]}', "expected a scope at least"),
        ('{"scopes": [[0], [2]], "values": [[1, 2]]}', "expected the position of a variable, a whole number from 0 to 1"),
        ('{"scopes": [[0], [true]], "values": [[1, 2]]}', "expected the position of a variable"),
        ('{"scopes": [[0], [1]], "values": [[1, 2]]}', "these variables have other numbers of states"),
        ('{"scopes": [[0, 1], [0]], "values": [[1, 2]]}', "expected a list of 2 positions, as the first has"),
        ('{"scopes": [[0, 0]], "values": [[1, 2], [3, 4]]}', "a variable appears twice"),
        ('{"of": ["a", "b"], "states": [[1, 2], [1, 2]], "values": [1, 2]}', "a row appears twice"),
        ('{"of": ["a", "b"], "states": [[1, 2], [2, 1]], "values": [1, 2]}', "expected the position of a state, below 2"),
        ('{"of": ["a", "b"], "states": [[1, 2], [1]], "values": [1, 2]}', "expected the positions of 2 states"),
        ('{"of": ["a", "b"], "states": [[1, 2]], "values": [1, 2]}', "the values: 1 number expected, found 2"),
        ('{"of": ["a", "b"], "conditional": true, "states": [[1, 2]], "values": [1]}', "do not each sum to one"),
    ],
)  # fmt: skip
def test_broken_factors(factor, message):
    variables = '[{"name": "a", "states": [0, 1]}, {"name": "b", "states": [0, 1, 2]}]'
    found = bad(f'{{"pgm": 1, "variables": {variables}, "factors": [{factor}]}}')
    assert message in found


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ('[{"name": "a"}]', "'a' has no states"),
        ('[{"name": "a", "states": [0]}, {"name": "a", "states": [0]}]', "a second variable 'a'"),
        ('[{"pixels": [2, 2], "states": [0, 1]}, {"name": "pixel[1,1]", "states": [0]}]', "a second variable"),
        ('[{"name": "a", "states": [0]}, {"pixels": [2, 2], "states": [0, 1]}]', "'pixels' is not a key of a variable"),
        ('[{"pixels": [2, 0], "states": [0, 1]}]', "expected a size of the image, a whole number from 1, found 0"),
        ('[{"pixels": [], "states": [0, 1]}]', "expected the sizes of an image, at most 8"),
        ('[{"pixels": [2, 2]}]', "the pixels have no states"),
        ('[{"pixels": [2, 2], "states": []}]', "There must be at least one state"),
    ],
)  # fmt: skip
def test_broken_variables(variables, message):
    assert message in bad(f'{{"pgm": 1, "variables": {variables}, "factors": []}}')


def test_what_is_claimed_is_refused_before_it_is_made():
    roots = ", ".join(f'{{"name": "x{i}", "states": [0, 1], "table": [[0.5, 0.5]]}}' for i in range(55))
    parents = json.dumps([f"x{i}" for i in range(50)])
    wide = f'{{"name": "y", "states": [0, 1], "parents": {parents}, "%s": [[0.5, 0.5]]}}'
    assert "10**15 rows expected, found 1" in bad(f'{{"pgm": 1, "nodes": [{roots}, {wide % "table"}]}}')
    assert "configurations expected, found 1" in bad(f'{{"pgm": 1, "nodes": [{roots}, {wide % "function"}]}}')
    image = '{"pgm": 1, "variables": [{"pixels": [100000000, 10000000], "states": [0, 1]}], "factors": []}'
    with pytest.raises(pgm.TooLarge, match="1,000,000,000,000,000 pixels"):
        read(image)
    states = json.dumps(list(range(12_000)))
    row = json.dumps([1.0] + [0.0] * 11_999)
    gate = '{"causes": {"a": [' + ", ".join([row] + ["null"] * 11_999) + ']}, "leak": ' + row + "}"
    text = (
        f'{{"pgm": 1, "nodes": [{{"name": "a", "states": {states}, "table": [{row}]}}, '
        f'{{"name": "b", "states": {states}, "parents": ["a"], "noisy-max": {gate}}}]}}'
    )
    with (
        pgm.config(memory_limit="1 GB"),
        pytest.raises(pgm.TooLarge, match="the gate of 'b' has 144000000 numbers"),
    ):
        read(text)


def test_deep_nesting_is_refused():
    for deep in ("[" * 100_000, '{"a":' * 100_000, WET.replace('"no"', "[" * 100_000 + "]" * 100_000)):
        assert "more than 64 lists and objects inside each other" in bad(deep)
    assert "1:68: more than 64 lists" in bad("],[" + "[" * 100)
    assert "expected a state" in bad(WET.replace('"no"', "[" * 40 + "1" + "]" * 40))
    deep: Any = "x"
    for _ in range(500):
        deep = (deep,)
    net = pgm.BayesianNetwork()
    net.add("x", [0.5, 0.5], states=[deep, "y"])
    with pytest.raises(pgm.InvalidArgument, match="has no JSON form"):
        written(net)


# --- whatever bytes come ------------------------------------------------------------------------------------


def seeds() -> list[str]:
    rng = np.random.default_rng(5)
    found = [WET]
    for _ in range(30):
        net = pgm.BayesianNetwork()
        for name in NASTY[:4]:
            add(net, name, rng)
        found.append(written(net))
    mrf = pgm.MarkovNetwork.grid([[0, 1], [1, 0]], [0, 1], 1.0, [[0.9, 0.1], [0.1, 0.9]])
    mrf.add_variable("b", states=["x", "y"])
    mrf.add_factor("b", [0.0, float("-inf")], log=True)
    return [*found, written(mrf)]


SEEDS = seeds()
PIECES = re.compile(r'"[^"]*"|[\[\]{},:]|[^\s\[\]{},:"]+')
WORDS = '0 -1 1e999 1e308 true null NaN "" [] {} [[ ] } , "-inf" "a"'.split()


@pytest.mark.slow
@settings(max_examples=2_000)
@given(
    seed=st.sampled_from(SEEDS),
    edits=st.lists(
        st.tuples(
            st.sampled_from(["cut", "flip", "drop", "word", "swap", "repeat"]),
            st.integers(0, 10**6),
            st.integers(0, 10**6),
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_only_our_errors_come_out_and_what_is_read_follows_the_schema(seed, edits):
    """Beside the ten thousand of test_formats.py, which know nothing of JSON."""
    text = seed
    for kind, a, b in edits:
        text = edited(text, kind, a, b) or "x"
    error: pgm.PGMError | None = None
    found = None
    try:
        found = read(text)
    except pgm.PGMError as raised:
        error = raised
    if error is None:
        SCHEMA.validate(json.loads(text))
        assert all_bits(read(written(found))) == all_bits(found)
    else:
        assert all(line.startswith("net.json:") for line in str(error).split("\n")[1:])  # one for each
        line = getattr(error, "line", None)
        assert line is None or 1 <= line <= text.count("\n") + 1


def edited(text: str, kind: str, a: int, b: int) -> str:
    """A text with one thing wrong."""
    at = a % len(text)
    if kind == "cut":
        return text[:at]
    if kind == "flip":
        return text[:at] + chr(b % 0x300) + text[at + 1 :]
    pieces = list(PIECES.finditer(text))
    if not pieces:
        return text
    one, other = pieces[a % len(pieces)], pieces[b % len(pieces)]
    word = {"drop": "", "word": WORDS[b % len(WORDS)], "swap": other[0], "repeat": f"{one[0]},{one[0]}"}[kind]
    return text[: one.start()] + word + text[one.end() :]
