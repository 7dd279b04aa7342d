"""Every error says what, where, what was expected and what to do; and survives a pickle."""

import pickle
import random
import time
from pathlib import Path

import numpy as np
import pytest

import pgm
from pgm import errors
from pgm.errors import (
    FileFormatError,
    ImpossibleEvidence,
    PGMError,
    TooLarge,
    UnknownState,
    UnknownVariable,
    listed,
    nearest,
    shown,
)
from pgm.variables import Bins, Variable
from tests.machine import slowness

BUILT_IN = {
    "UnknownVariable": KeyError,
    "UnknownState": KeyError,
    "InvalidVariable": ValueError,
    "InvalidTable": ValueError,
    "InvalidStructure": ValueError,
    "InvalidEvidence": ValueError,
    "InvalidArgument": ValueError,
    "InvalidCall": TypeError,
    "IncompleteModel": ValueError,
    "InvalidFrame": ValueError,
    "ImpossibleEvidence": ValueError,
    "NoSupportFound": ValueError,
    "NotIdentifiable": ValueError,
    "TooLarge": MemoryError,
    "OutOfTime": TimeoutError,
    "FileFormatError": ValueError,
}
MOOD = Variable("mood", ["bad", "fair", "good"])


def made(name: str) -> PGMError:
    kind = getattr(errors, name)
    if name == "UnknownVariable":
        return kind("rian", ["rain"])
    if name == "UnknownState":
        return kind(MOOD, "god")
    return kind("what happened")


@pytest.mark.parametrize(("name", "built_in"), BUILT_IN.items())
def test_each_is_a_pgm_error_and_what_python_users_expect(name, built_in):
    error = made(name)
    assert isinstance(error, PGMError)
    assert isinstance(error, built_in)
    with pytest.raises(built_in) as caught:
        raise error
    assert str(caught.value) == error.args[0]  # a bare KeyError prints the repr


def test_the_list_above_is_complete():
    kinds = {n for n, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, PGMError)}
    kinds = {name for name in kinds if not name.startswith("_")}
    assert kinds == {"PGMError", *BUILT_IN}


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_all_pickle(name, protocol):
    error = made(name)
    again = pickle.loads(pickle.dumps(error, protocol))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_what_errors_carry_survives_a_pickle():
    impossible = pickle.loads(pickle.dumps(ImpossibleEvidence("no", {"lung": "yes"})))
    assert (impossible.contradiction, impossible.smallest) == ({"lung": "yes"}, True)
    larger = pickle.loads(
        pickle.dumps(ImpossibleEvidence("no", {"lung": "yes", "tub": "no"}, smallest=False))
    )
    assert (larger.contradiction, larger.smallest) == ({"lung": "yes", "tub": "no"}, False)
    assert pickle.loads(pickle.dumps(TooLarge("big", plan=(1, 2)))).plan == (1, 2)
    place = pickle.loads(pickle.dumps(FileFormatError("expected ';'", "a.bif", 3, 4)))
    assert (place.path, place.line, place.column) == ("a.bif", 3, 4)
    unknown = pickle.loads(pickle.dumps(UnknownState(MOOD, "god")))
    assert (unknown.variable, unknown.state) == ("mood", "god")


def test_an_unknown_variable_names_the_nearest():
    assert str(UnknownVariable("rian", ["cloudy", "rain"])) == (
        "There is no variable 'rian'; there are 'cloudy', 'rain'. Did you mean 'rain'?"
    )
    assert str(UnknownVariable("hr", ["HR", "CVP"])).endswith("Did you mean 'HR'?")
    assert "Names are text" in str(UnknownVariable(3, ["rain"]))
    assert str(UnknownVariable("x", [])) == "There is no variable 'x'; there are no variables yet."
    assert "Did you mean" not in str(UnknownVariable("zebra", ["rain"]))


def test_an_unknown_state_names_variable_states_and_nearest():
    assert str(UnknownState(MOOD, "god")) == (
        "'mood' has no state 'god'; it has 'bad', 'fair', 'good'. Did you mean 'good'?"
    )
    assert str(UnknownState(MOOD, "god", where="Row 3", remedy="Do this.")).startswith("Row 3: 'mood' has no")
    assert str(UnknownState(MOOD, "god", remedy="Do this.")).endswith("Do this.")
    age = Variable("age", Bins([0, 18, 65]))
    assert str(UnknownState(age, 70)) == "'age' has no bin for 70; its bins are [0, 18), [18, 65]."
    many = str(UnknownState(Variable("age", Bins(range(100))), -1))
    assert many.endswith("[9, 10), ..., [98, 99].")


def test_file_errors_begin_with_the_place():
    assert str(FileFormatError("bad", "net.bif", 7, 12)) == "net.bif:7:12: bad"
    assert str(FileFormatError("bad", "net.bif", 7)) == "net.bif:7: bad"
    assert str(FileFormatError("bad")) == "bad"


def test_a_hint_among_a_million_names_is_quick():
    known = dict.fromkeys(f"pixel[{i}]" for i in range(1_000_000))
    start = time.thread_time()
    message = str(UnknownVariable("pixel[1x]", known))
    assert time.thread_time() - start < 5
    assert "1,000,000 in all" in message
    assert len(message) < 500


def test_hostile_values_do_not_break_or_flood_a_message():
    class Broken:
        def __repr__(self):
            raise RuntimeError

    for value in (
        Broken(),
        "x" * 10**6,
        list(range(10**6)),
        10**5000,
        {i: i for i in range(10**5)},
        b"\xff" * 999,
    ):
        assert len(shown(value)) < 300
        assert "\n" not in shown(value)
        assert len(str(UnknownState(MOOD, value))) < 500
        assert len(str(UnknownVariable(value, ["rain"]))) < 500


def test_values_are_shown_as_the_user_wrote_them():
    assert shown({"yes": 0.8, "no": 0.1}) == "{'yes': 0.8, 'no': 0.1}"  # in that order
    assert listed(range(3)) == "0, 1, 2"
    assert listed(range(1000)).endswith("9, ... (1,000 in all)")
    assert nearest("x" * 10**6, ["x" * 10**6]) == ""
    assert nearest("YES", ["no", "yes"]) == " Did you mean 'yes'?"


def _common(a: str, b: str) -> int:
    """How many letters two texts have in common in their order, by the textbook's table."""
    found = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + 1][j + 1] = found[i][j] + 1 if x == y else max(found[i][j + 1], found[i + 1][j])
    return found[-1][-1]


def test_the_nearest_name_has_most_letters_in_common():
    rng = random.Random(0)
    for _ in range(2000):
        word, *known = ("".join(rng.choices("abc", k=rng.randint(1, 9))) for _ in range(5))
        share = {name: 2 * _common(word, name) / len(word + name) for name in known}
        best = max(share, key=share.__getitem__)
        expected = known[known.index(word)] if word in known else best
        hint = f" Did you mean {expected!r}?" if share[best] >= 0.6 else ""
        assert nearest(word, known) == hint


@pytest.mark.parametrize("letters", ["ab", "sensor_", "abcdefghijklmnopqrstuvwxyz_0123456789"])
def test_the_nearest_of_many_long_names_is_found_at_once(letters):
    rng = random.Random(0)
    known = ["".join(rng.choices(letters, k=190)) for _ in range(9_000)]
    begun = time.thread_time()
    assert nearest(known[4_321][:-1] + "?", known).startswith(f" Did you mean '{known[4_321][:20]}")
    assert time.thread_time() - begun < 1.5 * slowness()


def test_a_warning_shows_the_line_of_whoever_called():
    """However deep the call went, and through whatever wrapper: the file is this one, each time."""
    net = pgm.BayesianNetwork("wet grass")
    net.add("smoke", 0.3)
    net.add("cough", {True: 0.6, False: 0.2}, parents=["smoke"])
    noisy = pgm.MarkovNetwork.grid(np.eye(4, dtype=int), [0, 1], coupling=3.0, unary=[[0.6, 0.4], [0.4, 0.6]])
    frame = {"SMOKE": [True, False], "cough": [True, None]}
    for ask, words in (
        (lambda: net.predict(frame, "cough"), "rename it"),
        (lambda: net.score(frame), "rename it"),
        (lambda: noisy.marginals(engine=pgm.engines.Loopy(max_iter=1)), "has not converged"),
        (lambda: pgm.config(threads=1), "written without `with`"),
    ):
        with pytest.warns(UserWarning, match=words) as said:
            ask()
        assert [Path(each.filename) for each in said] == [Path(__file__)]
