"""Wrong calls: a keyword of another library is answered with ours.

Python rejects a wrong keyword before the function begins, so nothing inside can suggest the right one.
Public functions are therefore wrapped once, when pgm is imported; signatures, help and types do not change,
and a correct call costs a tenth of a microsecond more.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from pgm.errors import InvalidCall, nearest

_F = TypeVar("_F", bound=Callable[..., Any])

# What each of our arguments is, in messages such as "what is known is the second argument, given=".
_MEANING = {
    "given": "what is known",
    "parents": "what the distribution depends on",
    "targets": "what is asked for",
    "target": "what is asked for",
    "names": "the list of variables",
    "seed": "the seed for everything random",
    "n": "the number of draws",
    "samples": "the number of draws",
    "k": "how many to find",
    "frame": "the data",
    "data": "the data",
    "engine": "the engine that answers",
    "states": "the list of states",
    "table": "the distribution",
    "values": "the table of values",
    "max_iter": "the largest number of iterations",
    "sweeps": "the largest number of sweeps",
    "tol": "the tolerance",
    "threads": "the number of threads",
    "file": "the path, or an open file,",
    "format": "the format of the file",
    "order": "the elimination order",
    "edges": "the list of arrows",
}
# Other libraries' names for it; the first of ours that a function has is meant.
_OTHERS = {
    ("given", "parents"): "evidence evidences evs observed observations condition conditions known",
    ("targets", "target", "names"): "variables variable query nodes node target targets",
    ("seed",): "random_state random_seed rng generator",
    ("n", "samples", "k"): "n_samples num_samples nsamples size n_draws num_draws count n top",
    ("frame", "data"): "df X dataframe samples dataset data frame",
    ("engine",): "method algorithm inference solver",
    ("states",): "state_names levels labels categories domain cardinality",
    ("table", "values"): "cpd cpt probabilities p probability distribution potential",
    ("max_iter", "sweeps"): "n_iter n_iterations max_iterations iterations maxiter",
    ("tol",): "tolerance eps epsilon atol",
    ("threads",): "n_jobs n_threads num_threads workers",
    ("file",): "path filename filepath file_name fname",
    ("format",): "filetype file_type file_format fmt",
    ("order",): "elimination_order",
    ("edges",): "arcs ebunch structure dag",
}
_OURS = {word: ours for ours, words in _OTHERS.items() for word in words.split()}
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


def guarded(function: _F) -> _F:
    """Wrap a function so that a wrong call is explained.

    >>> @guarded
    ... def query(targets, given=None, *, engine="auto"):
    ...     return targets
    >>> query("rain", evidence={})
    Traceback (most recent call last):
    pgm.errors.InvalidCall: query() has no evidence=; what is known is the second argument, given=.
    """
    if "guarded_" in vars(function):
        return function
    explain = wrong

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            if (error := explain(function, args, kwargs)) is not None:
                raise error from None
            raise

    # With the globals of its own module, by which doctest finds the function's home.
    home = cast(types.FunctionType, inspect.unwrap(function)).__globals__
    made = types.FunctionType(call.__code__, home, call.__name__, None, call.__closure__)
    functools.update_wrapper(made, function)
    vars(made)["guarded_"] = True  # rooms that share a base class guard its methods once
    return cast(_F, made)


def guard_classes(classes: Iterable[type]) -> None:
    """Wrap what users call of these classes: constructors and public methods."""
    every = list(classes)  # an iterator could be walked only once
    guard_methods(every)
    guard_constructors(every)


def guard_methods(classes: Iterable[type]) -> None:
    """Wrap every public method of these classes that takes arguments, where it is defined."""
    for cls in _of_pgm(classes):
        guard_own_methods(cls)


def guard_own_methods(cls: type) -> None:
    """Wrap the public methods that a class itself defines."""
    for name, found in list(vars(cls).items()):
        inner = found.__func__ if isinstance(found, classmethod | staticmethod) else found
        if not name.startswith("_") and inspect.isfunction(inner) and _arguments(inner) > 1:
            made = guarded(inner)
            setattr(cls, name, made if inner is found else type(found)(made))


def guard_constructors(classes: Iterable[type]) -> None:
    """Wrap the constructor of each of these classes."""
    for cls in _of_pgm(classes):
        if inspect.isfunction(made := vars(cls).get("__init__")):
            setattr(cls, "__init__", guarded(made))  # noqa: B010
        if isinstance(made := vars(cls).get("__new__"), staticmethod):
            setattr(cls, "__new__", staticmethod(guarded(made.__func__)))  # noqa: B010


def _of_pgm(classes: Iterable[type]) -> list[type]:
    """The classes and their bases, each once."""
    every = dict.fromkeys(base for each in classes for base in each.__mro__)
    return [base for base in every if base.__module__.startswith("pgm.")]


def _arguments(function: Callable[..., Any]) -> int:
    """The number of arguments of a function; inspect.signature would take longer than some imports."""
    code = cast(types.FunctionType, inspect.unwrap(function)).__code__
    several = (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + sum(bool(code.co_flags & flag) for flag in several)


def wrong(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> InvalidCall | None:
    """What is wrong with a call, or None if the function takes it: then the error is not about the call."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    name = function.__name__
    made = {"__init__": type(args[0]), "__new__": args[0]}.get(name) if args else None
    called = f"{made.__name__ if made else name}()"
    own = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    first = len(signature.parameters) - len(own)
    places = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name: p for p in own if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for word in kwargs:
        if word not in by_name:
            return InvalidCall(f"{called} has no {word}=; {_instead(word, by_name, places)}")
    if len(args) - first > len(places):
        named = ", ".join(f"{p.name}=" for p in own if p not in places)
        most = f"{len(places) or 'no'} positional argument{'s' * (len(places) > 1)}"
        others = f"; the others are named: {named}" if named else ""
        return InvalidCall(f"{called} takes {most}, not {len(args) - first}{others}.")
    twice = [p.name for p in places[: len(args) - first] if p.name in kwargs]
    if twice:
        return InvalidCall(f"{called} has {twice[0]}= twice: by position and by name.")
    missing = next(
        p for p in own[max(0, len(args) - first) :] if p.name not in kwargs and p.default is p.empty
    )
    return InvalidCall(f"{called} lacks {_place(missing, places)}{missing.name}=.")


def _instead(word: str, by_name: dict[str, inspect.Parameter], places: list[inspect.Parameter]) -> str:
    """What to use instead of an unknown keyword."""
    meant = next((ours for ours in _OURS.get(word, ()) if ours in by_name), None)
    if meant is None:
        takes = ", ".join(f"{name}=" for name in by_name)
        return f"it takes {takes}.{nearest(word, by_name)}" if takes else "it takes no keywords."
    return f"{_MEANING[meant]} is {_place(by_name[meant], places)}{meant}=."


def _place(parameter: inspect.Parameter, places: list[inspect.Parameter]) -> str:
    at = places.index(parameter) if parameter in places else len(_ORDINALS)
    return f"the {_ORDINALS[at]} argument, " if at < len(_ORDINALS) else ""
