"""The `pgm` command: ask a model in a file a question; print the answer on the terminal or as JSON.

A user's mistake gives one line on stderr, in the shell's terms, and exit code 2; answers go to stdout,
everything else to stderr. The file `-` is stdin or stdout.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import dataclasses
import io
import json
import math
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NoReturn

import numpy as np

import pgm
from pgm.config import current
from pgm.errors import (
    InvalidArgument,
    InvalidFrame,
    NotIdentifiable,
    PGMError,
    UnknownVariable,
    listed,
    nearest,
    shown,
)
from pgm.inference.engines import ENGINES, Engine
from pgm.io import FORMATS
from pgm.io.text import read_text
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.models.causal.graph import CausalGraph
from pgm.models.classifiers.row_classifier import RowClassifier
from pgm.models.decision import InfluenceDiagram, Policy
from pgm.models.decision.rule import Rule
from pgm.models.dynamic.dynamic_bayesian_network import DynamicBayesianNetwork
from pgm.models.mixtures import Mixture
from pgm.models.mixtures.columns import emission_of
from pgm.results import Assignment, Density, Distribution, Report
from pgm.runtime.loops import state
from pgm.runtime.room import size_of
from pgm.variables import Variable, is_missing

Model = BayesianNetwork | MarkovNetwork

_MISTAKE, _INTERRUPTED = 2, 130
_PICTURES = ("png", "svg", "pdf", "jpg", "webp", "eps")
_KNOWN = """\
what is known, as NAME=STATE, or NAME=3.7 if it is continuous; NAME=a|b is one of several states,
NAME!=a any other; ends at the first word without an equals sign, and may be repeated
"""
_ENGINE = """\
auto (the default) answers exactly; others as in pgm.engines, with options as in
loopy:damping=0.5,max_iter=1000
"""
_MISSING = ("", "NA", "NaN")  # missing cells of a CSV file, unless they are names of states


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process; return its exit code."""
    try:
        given = _parsed(sys.argv[1:] if arguments is None else arguments)
        with _limits(given), warnings.catch_warnings():
            warnings.showwarning = _warned
            given.command(given)
            sys.stdout.flush()
    except PGMError as error:
        return _failed(str(error))
    except BrokenPipeError:  # the reader of the answer has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return _INTERRUPTED
    return 0


def run() -> NoReturn:
    """Run the command as a process, which exits with its answer even if other threads are still running."""
    for stream in (sys.stdout, sys.stderr):  # do not fail over a name that the terminal cannot show
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = main()
    except SystemExit as stopped:  # argparse has printed its help, or one line
        code = int(stopped.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _failed(message: str) -> int:
    sys.stderr.write(f"pgm: {in_shell_words(message.strip().splitlines()[0])}\n")
    return _MISTAKE


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"pgm: warning: {in_shell_words(' '.join(str(message).split()))}\n")


def _engine_word(found: re.Match[str]) -> str:
    name = next((name for name, kind in ENGINES.items() if kind.__name__ == found[1]), found[1])
    return f"--engine {name}:{found[2].replace(', ', ',')}" if found[2] else f"--engine {name}"


# What messages say to Python users, and the corresponding option of the command.
_WORDS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"(?:engine=)?pgm\.engines\.([A-Z]\w+)(?:\(([^()]*)\))?", _engine_word),
    (r"engine=[\"']([\w-]+)[\"']", r"--engine \1"),
    (r"engine=(?=[\"'])", "--engine "),
    (r"`(?:with )?(pgm\.(?:set_)?config\(\w+=\.\.\.\))`", r"\1"),
    (r"pgm\.(?:set_)?config\((memory|time)_limit=\.\.\.\)", r"--\1"),
    (r"\b(memory|time)_limit=[\"']?([^\"' ]+)[\"']?", r"--\1 \2"),
    (r", or None for no limit", ""),
    (r"\bexpand=True", "--expand"),
    (r"\bbad_rows=[\"'](\w+)[\"']", r"--bad-rows \1"),
    (r"\b(format|encoding|kind)=[\"']([\w.-]+)[\"']", r"--\1 \2"),
    (r"max_parents=", "--max-parents "),
    (r"(?<![\w-])(require|forbid|tiers|bootstrap|search|score)=(?=\")", r"--\1 "),
    (r"(?<![\w-])(require|forbid|tiers|bootstrap|search|score)=", r"--\1"),
    (r"(?<![\w-])(engine|format|encoding|targets|given|seed|kind)=(?![\w\"'\[{])", r"--\1"),
    (r"\bpass --", "use --"),
    ("`k_best`", "map -k"),
    (r"`(\w+)`", r"\1"),
]


def in_shell_words(message: str) -> str:
    """Return a message with this command's options in place of Python's.

    >>> in_shell_words('try pgm.engines.Loopy(damping=0.5), or pgm.set_config(time_limit=...).')
    'try --engine loopy:damping=0.5, or --time.'
    """
    for written, here in _WORDS:
        message = re.sub(written, here, message)
    return message


# --- what is asked ---------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with one line, which says where to read more."""
        if "required: file" in message and "--targets" in self._option_string_actions:
            message += " (it goes before --targets, which takes all names that follow)"
        self.exit(_MISTAKE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; targets may also come after the evidence."""
    given, left = _parser().parse_known_args(_apart(arguments))
    takes = given.command in (query, plan, predict)
    if takes and not given.targets and not any(text.startswith("-") for text in left):
        given.targets = left  # argparse looks for them only in one place
    elif left:
        hint = "; --targets comes before names" if given.command is most_probable else ""
        hint = "; list all targets in one place; what is known is NAME=STATE" if takes else hint
        if any(text.startswith("-") for text in left):  # an unknown option
            hint = ""
        raise InvalidArgument(f"unrecognized arguments: {' '.join(left)}{hint}")
    return given


def _apart(arguments: Sequence[str]) -> list[str]:
    """End the list after --given where it stops being evidence: at an option, a file or a target.

    >>> _apart(["query", "--given", "dysp=yes", "smoke=no", "asia", "lung"])
    ['query', '--given=dysp=yes', '--given=smoke=no', 'asia', 'lung']
    """
    found: list[str] = []
    inside = False
    for i, text in enumerate(arguments):
        first = i > 0 and arguments[i - 1] == "--given"
        inside = (first or (inside and "=" in text)) and not text.startswith("-")
        if inside:
            found[-1:] = ["--given=" + text] if first else [found[-1], "--given=" + text]
        else:
            found.append(text)
    return found


def _parser() -> _Parser:
    parser = _Parser(prog="pgm", description="Query probabilistic networks.", epilog=_examples())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--version", action="version", version=f"pgm {pgm.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], None], said: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.")
        made.set_defaults(command=run)
        made.add_argument(
            "file",
            nargs="?" if run is info else None,
            help="the rows: CSV with a header, empty cells missing; or -"
            if run is learn
            else "a model: a file, packed or not, the name of a network that comes with pgm, or -"
            + ("; none: of this installation" if run is info else ""),
        )
        if run is not learn:
            made.add_argument("--format", help="its format, if its name does not tell")
        made.add_argument(
            "--encoding", help="its encoding, if that is not UTF-8 and it does not say so, such as latin-1"
        )
        return made

    def answers(made: argparse.ArgumentParser, *, engine: bool = True) -> None:
        made.add_argument("--json", action="store_true", help="print JSON, for programs")
        if engine:
            made.add_argument("--engine", default="auto", metavar="NAME[:OPTIONS]", help=_ENGINE)
        made.add_argument("--memory", metavar="SIZE", help='the memory limit, such as "4 GB"')
        made.add_argument("--time", metavar="SECONDS", type=_number, help="the time limit of an answer")

    def known(made: argparse.ArgumentParser) -> None:
        made.add_argument(
            "--given", nargs="+", action="extend", default=[], metavar="NAME=STATE", help=_KNOWN
        )

    made = command("info", info, "describe a model and what exact answers cost, or this installation")
    answers(made, engine=False)

    made = command("query", query, "print P(targets | given), for several targets jointly")
    made.add_argument("targets", nargs="*", default=[], help="variables; none: every variable by itself")
    known(made)
    answers(made)

    made = command("map", most_probable, "print the most probable states of all unobserved variables")
    made.add_argument("--targets", nargs="+", metavar="NAME", help="only of these; the others are summed out")
    made.add_argument("-k", type=_whole, default=1, help="how many, the most probable first (default 1)")
    known(made)
    answers(made)

    made = command("sample", sample, "draw cases, printed as CSV")
    made.add_argument("n", type=_whole, help="the number of cases")
    made.add_argument("--seed", type=_whole, help="the same seed draws the same cases")
    made.add_argument("-o", "--output", metavar="FILE", help="write there instead of stdout")
    known(made)
    answers(made)

    made = command("predict", predict, "print what is most probable in each row of a CSV file, as CSV")
    made.add_argument("data", help="the rows: CSV with a header, empty cells missing; or -")
    made.add_argument(
        "targets",
        nargs="*",
        default=[],
        help="variables, whose own columns are ignored; none: all, to fill gaps",
    )
    made.add_argument("--proba", action="store_true", help="the probability of each state instead")
    made.add_argument(
        "--bad-rows",
        choices=("raise", "missing"),
        default="raise",
        help="an impossible row is an error (raise), or has empty cells in the answer (missing)",
    )
    made.add_argument("-o", "--output", metavar="FILE", help="write there instead of stdout")
    answers(made, engine=False)

    made = command("learn", learn, "learn which variables depend on which, or a mixture, from a CSV file")
    made.add_argument("-o", "--output", metavar="FILE", help="where the fitted network is written, or -")
    made.add_argument("--to", metavar="FORMAT", help="the format of that file, if its name does not tell")
    made.add_argument(
        "--score", metavar="NAME[:OPTIONS]", help="bic (the default), bdeu, ... as in pgm.scores"
    )
    made.add_argument(
        "--search",
        default="tabu",
        metavar="NAME[:OPTIONS]",
        help="tabu (the default), boss, pc:alpha=0.01, ...",
    )
    made.add_argument("--max-parents", type=_whole, metavar="N", help="the largest number of parents")
    for name, what in (("require", "must have"), ("forbid", "must not have")):
        made.add_argument(
            f"--{name}", nargs="+", default=[], metavar="A->B", help=f"arrows that the network {what}"
        )
    made.add_argument(
        "--tiers", nargs="+", default=[], metavar="A,B", help="groups of names, the earliest first"
    )
    made.add_argument(
        "--continuous",
        nargs="+",
        default=[],
        metavar="NAME",
        help="columns of whole numbers that are measurements",
    )
    made.add_argument(
        "--bootstrap",
        type=_whole,
        default=0,
        metavar="N",
        help="bootstrap samples, for the confidence of arrows",
    )
    made.add_argument(
        "--components",
        metavar="N|A-B",
        help="learn a mixture with this many components instead; of 1-6, as many as --score (bic, aic) says",
    )
    made.add_argument("--form", help="the form of a mixture's covariances: full (the default), diagonal, ...")
    made.add_argument(
        "--starts", type=_whole, metavar="N", help="the number of EM starts of a mixture (default 5)"
    )
    made.add_argument("--seed", type=_whole, help="the seed for everything random")
    answers(made, engine=False)

    made = command("solve", solve, "print the best policy of an influence diagram and its expected utility")
    made.add_argument("decisions", nargs="*", default=[], help="decisions whose tables to print; none: all")
    known(made)
    answers(made, engine=False)

    made = command("value", value, "print the value of observing something before a decision")
    made.add_argument(
        "names", nargs="*", default=[], help="chance nodes observed together; none: each by itself"
    )
    made.add_argument("--before", metavar="NAME", help="the decision (default: the first that is open)")
    known(made)
    answers(made, engine=False)

    made = command("explain", explain, "explain the probability of a variable, given the evidence")
    made.add_argument("target", help="the variable")
    made.add_argument("--state", help="the state that is explained (default: True, or the most probable)")
    made.add_argument("--shapley", action="store_true", help="attribute the answer by Shapley values")
    known(made)
    answers(made, engine=False)

    made = command("next", next_look, "say what to observe next to learn most about a variable")
    made.add_argument("target", help="the variable")
    made.add_argument("--over", nargs="+", metavar="NAME", help="what may be observed; none: everything else")
    made.add_argument("--tree", action="store_true", help="a whole decision tree of observations")
    made.add_argument("--sure", type=_number, default=0.95, help="the probability at which a tree stops")
    known(made)
    answers(made, engine=False)

    made = command("sensitivity", sensitivity, "print which parameters of a network an answer depends on")
    made.add_argument("target", help="the variable")
    made.add_argument("--state", help="the state (default: True, or the most probable)")
    made.add_argument("--at-least", type=_number, metavar="P", help="what must change to reach this value")
    made.add_argument("--at-most", type=_number, metavar="P", help="what must change to fall to this value")
    known(made)
    answers(made, engine=False)

    made = commands.add_parser(
        "identify",
        help="print the effect of an action as a formula of observed probabilities",
        description="Print the effect of an action as a formula of observed probabilities.",
    )
    made.set_defaults(command=identify)
    made.add_argument(
        "graph", help="arrows, as in 'x -> y; x <-> y', or a file of a causal graph or a network"
    )
    made.add_argument("--do", nargs="+", required=True, metavar="NAME", help="what is done")
    made.add_argument("--of", nargs="+", required=True, metavar="NAME", help="what it may influence")
    made.add_argument("--seen", nargs="+", default=[], metavar="NAME", help="what is observed afterwards")
    made.add_argument("--hidden", nargs="+", default=[], metavar="NAME", help="nodes that are never observed")
    made.add_argument("--latex", action="store_true", help="print the formula in LaTeX")
    answers(made, engine=False)

    made = command("plan", plan, "print what a question would cost, without running it")
    made.add_argument("targets", nargs="*", default=[], help="variables; none: every variable by itself")
    known(made)
    answers(made)

    made = command("convert", convert, "write a model in another format, chosen by its new name")
    made.add_argument("output", help="the new file, or -")
    made.add_argument("--to", metavar="FORMAT", help="the format of the new file, if its name does not tell")
    made.add_argument(
        "--expand",
        action="store_true",
        help="write tables for what the format cannot hold, such as an estimator's inputs with states",
    )

    made = command("plot", plot, "draw a model into a PNG, SVG or PDF file")
    made.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the file; its extension sets the format; or -"
    )
    made.add_argument("--to", metavar="FORMAT", help="the format of the picture, if its name does not tell")
    made.add_argument("--kind", default="network", help="or junction-tree, factor-graph, moral")
    made.add_argument(
        "--posteriors", action="store_true", help="show the posterior of each unobserved variable"
    )
    known(made)
    return parser


def _examples() -> str:
    return """\
examples:
  pgm info alarm.bif
  pgm query alarm.bif HR --given CVP=LOW BP=HIGH
  pgm map alarm.bif --given CVP=LOW --json
  pgm predict alarm.bif patients.csv HR BP
  pgm plot alarm.bif -o alarm.svg --given CVP=LOW
  pgm solve clinic.json --given test=True
  pgm learn patients.csv -o patients.bif --score bic
  pgm learn patients.csv -o groups.json --components 2-6
  pgm identify "smoking -> tar -> cancer; smoking <-> cancer" --do smoking --of cancer
"""


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a whole number is expected, not {shown(text)}") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number is expected, not {shown(text)}") from None


def engine(text: str) -> str | Engine:
    """Return an engine from its name, with options as in NAME:OPTION=VALUE,OPTION=VALUE.

    >>> engine("loopy:damping=0.5,max_iter=10").damping
    0.5
    """
    found: str | Engine = _with_options(text, ENGINES, "--engine")
    return found


def _with_options(text: str, kinds: Mapping[str, type[Any]], flag: str) -> Any:
    """The object that NAME:OPTION=VALUE,... stands for, or the name alone."""
    name, _, options = text.partition(":")
    kind = kinds.get(name)
    if not options or kind is None:
        return name
    there = [field.name for field in dataclasses.fields(kind) if field.init]
    found: dict[str, Any] = {}
    for option in options.split(","):
        key, equals, value = option.partition("=")
        if key not in there or not equals:
            has = f"it has {', '.join(there)}" if there else "it has none"
            raise InvalidArgument(f"{flag} {name} has no option {shown(option)}; {has}.{nearest(key, there)}")
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):  # text without quotes
            found[key] = value
    return kind(**found)


def _limits(given: argparse.Namespace) -> contextlib.AbstractContextManager[object]:
    limits = {"memory_limit": getattr(given, "memory", None), "time_limit": getattr(given, "time", None)}
    return pgm.config(
        progress=sys.stderr.isatty(), **{name: value for name, value in limits.items() if value is not None}
    )


def _read(given: argparse.Namespace, *, as_it_is: bool = False) -> Any:
    """Return the model; a dynamic network unrolled as far as the question goes, rain[0], rain[1], ..."""
    model = _read_any(given, as_it_is)
    if isinstance(model, InfluenceDiagram) and not as_it_is:
        raise InvalidArgument(
            f"{given.file} holds an influence diagram: `pgm solve` says what to do, `pgm value` what it is "
            "worth to know more."
        )
    if isinstance(model, CausalGraph) and not as_it_is:
        raise InvalidArgument(
            f"{given.file} holds a causal graph without probabilities: query it with `pgm identify`."
        )
    if not as_it_is and not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise _no_questions(given, model)
    return model


def _no_questions(given: argparse.Namespace, model: Any) -> InvalidArgument:
    return InvalidArgument(
        f"{given.file} holds a {type(model).__name__}, which the shell cannot query: `pgm info` "
        "prints it, and pgm.read hands it to Python."
    )


def _read_diagram(given: argparse.Namespace) -> InfluenceDiagram:
    model = _read_any(given, as_it_is=True)
    if isinstance(model, Policy):
        return model.diagram
    if not isinstance(model, InfluenceDiagram):
        raise InvalidArgument(f"{given.file} holds no influence diagram: there is nothing to decide.")
    return model


def _read_any(given: argparse.Namespace, as_it_is: bool) -> Any:
    if given.format is None and not os.path.exists(given.file) and given.file in pgm.list_networks():
        return pgm.load_network(given.file)
    if given.file == "-" and given.format is None:
        raise InvalidArgument(
            f"stdin has no name to tell the format from: --format is one of {listed(FORMATS)}."
        )
    model: Any = pgm.read(_input(given.file), format=given.format, encoding=given.encoding)
    if isinstance(model, Policy) and not as_it_is:
        return model.network()
    if isinstance(model, DynamicBayesianNetwork) and not as_it_is:
        texts = [*(getattr(given, "targets", None) or ()), *(getattr(given, "given", None) or ())]
        steps = [int(step) for text in texts for step in re.findall(r"^[^=]*\[(\d+)\]", text)]
        return model.unroll(max(steps, default=model.lag) + 1)
    return model


def _input(path: str) -> Any:
    """Return a file to read: the path, or stdin."""
    return getattr(sys.stdin, "buffer", sys.stdin) if path == "-" else path


def evidence(model: Model | InfluenceDiagram, texts: Sequence[str]) -> dict[str, Any]:
    """Return the evidence, from texts like NAME=STATE.

    >>> net = BayesianNetwork()
    >>> net.add("sky", {"blue": 0.7, "grey": 0.2, "black": 0.1})
    >>> evidence(net, ["sky!=black"])
    {'sky': Not('black')}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, state = _halves(model, text)
        if name in found:
            raise InvalidArgument(f"--given has {shown(name)} twice; keep one.")
        found[name] = state
    return found


def _halves(model: Model | InfluenceDiagram, text: str) -> tuple[str, Any]:
    """Split at an equals sign preceded by a variable's name: names and states may contain others."""
    signs = [i for i, letter in enumerate(text) if letter == "="]
    if not signs:
        raise InvalidArgument(f"--given takes NAME=STATE, not {shown(text)}.")
    halves = [(text[:i], text[i + 1 :], False) for i in signs]
    halves += [(text[: i - 1], text[i + 1 :], True) for i in signs if text[i - 1 : i] == "!"]
    ways = [(model.variables[name], state, other) for name, state, other in halves if name in model.variables]
    if not ways:
        raise UnknownVariable(text[: signs[0]], model.variables, "--given")
    meant = [way for way in ways if way[1] in map(str, way[0].states)]
    variable, state, other = (meant or ways)[0]
    return variable.name, _state(variable, state, other)


def _state(variable: Variable, text: str, without: bool) -> Any:
    if variable.continuous or variable.bins is not None:
        if variable.continuous and without:
            raise InvalidArgument(
                f"--given: {shown(variable.name)} is continuous: use = with a number, not !=."
            )
        with contextlib.suppress(ValueError):
            return pgm.Not(float(text)) if without else float(text)
        if variable.continuous:
            raise InvalidArgument(f"--given: {shown(variable.name)} takes a number, not {shown(text)}.")
    states = text.split("|")
    if len(states) > 1 and text not in map(str, variable.states):
        return pgm.Not(*states) if without else pgm.OneOf(*states)
    return pgm.Not(text) if without else text


# --- the commands ----------------------------------------------------------------------------------------


def info(given: argparse.Namespace) -> None:
    """Print a summary of a model or, without one, of this installation."""
    if given.file is None:
        if given.format or given.encoding:
            raise InvalidArgument("--format and --encoding describe a file, and none was named.")
        here = _installation()
        _json(here) if given.json else _print(_listed(here))
        return
    model = _read(given, as_it_is=True)
    if not isinstance(
        model, BayesianNetwork | MarkovNetwork | DynamicBayesianNetwork | InfluenceDiagram | CausalGraph
    ):
        kind = {"kind": type(model).__name__, "name": getattr(model, "name", "")}
        _json(kind) if given.json else _print(f"{_aligned(kind)}\n\n{model!r}")
        return
    facts = _facts(model)
    if isinstance(model, DynamicBayesianNetwork | InfluenceDiagram | CausalGraph):
        _json(facts) if given.json else _print(_aligned(facts))
        return
    cost = model.plan()
    facts["all marginals"] = {
        "fits": cost.fits,
        "entries": cost.entries if math.isfinite(cost.entries) else None,
        "bytes": cost.bytes if cost.complete else None,
    }
    if given.json:
        _json(facts)
        return
    marginals = facts.pop("all marginals")
    _print(_aligned(facts | {"exact answers": _cost(marginals)}))


def _aligned(facts: Mapping[str, Any]) -> str:
    rows = [(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in facts.items()]
    return "\n".join(f"{name:<16}{text}" for name, text in rows if text)


def _installation() -> dict[str, Any]:
    """This installation: versions, the form of the loops, the limits in force."""
    from importlib import metadata  # takes 20 ms, and only this needs it

    versions = {}
    for name in ("numpy", "scipy", "networkx", "narwhals", "matplotlib", "pandas", "polars", "pyarrow"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    limits = current()
    return {
        "pgm": pgm.__version__,
        "folder": os.path.dirname(pgm.__file__),
        "python": f"{platform.python_version()}, {platform.python_implementation()}",
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": versions,
        "loops": state()._asdict(),
        "threads": limits.threads,
        "memory limit": {"bytes": limits.memory_limit, "origin": limits.memory_origin},
        "time limit": limits.time_limit,
    }


def _listed(here: Mapping[str, Any]) -> str:
    loops, memory, seconds = here["loops"], here["memory limit"], here["time limit"]
    form = f"{loops['form']}, {loops['variant']}" if loops["variant"] else loops["form"]
    form += ", but not all" if loops["variant"] and loops["reason"] else ""
    rows = {
        "pgm": f"{here['pgm']}, in {here['folder']}",
        "python": f"{here['python']}, on {here['machine']}",
        **here["versions"],
        "loops": f"{form}: {loops['reason']}" if loops["reason"] else form,
        "threads": f"{here['threads']} for a question",
        "memory limit": f"{size_of(memory['bytes'])}, {memory['origin']}",
        "time limit": "none" if seconds is None else f"{seconds:g} s for a question",
    }
    return "\n".join(f"{name:<16}{text}" for name, text in rows.items())


def _facts(model: Model | DynamicBayesianNetwork | InfluenceDiagram | CausalGraph) -> dict[str, Any]:
    if isinstance(model, CausalGraph):
        return {
            "kind": "causal graph",
            "nodes": len(model),
            "arrows": len(model.edges),
            "hidden causes": len(model.common),
        }
    if isinstance(model, InfluenceDiagram):
        return {
            "kind": "influence diagram",
            "name": model.name,
            "chance nodes": len(model.chances),
            "decisions": ", ".join(model.decisions),
            "utilities": ", ".join(model.utilities),
            "memory": model.memory,
        }
    if isinstance(model, DynamicBayesianNetwork):
        plan = model.plan()
        return {
            "kind": "dynamic Bayesian network",
            "name": model.name,
            "variables": len(model),
            "looks back": f"{model.lag} step{'s' * (model.lag != 1)}",
            "interface": f"{len(plan.interface)} variables, {plan.entries:,} entries",
            "arcs": len(model.edges),
            "parameters": model.n_parameters,
        }
    states = [v.card for v in model.variables.values() if not v.continuous]
    continuous = len(model.variables) - len(states)
    few, many = min(states, default=0), max(states, default=0)
    range_ = f"{few} to {many}" if few < many else f"{many}" if many else ""
    if isinstance(model, MarkovNetwork):
        scopes = {"factors": model.n_factors, "largest factor": _most(len(p.names) for p in model.potentials)}
        return {
            "kind": "Markov network",
            "name": model.name,
            "variables": len(states),
            "states": range_,
        } | scopes
    arcs = {
        "arcs": len(model.edges),
        "parents": f"at most {_most(len(model.parents(node)) for node in model.nodes)}",
        "parameters": model.n_parameters,
    }
    nodes = {"nodes": len(model.nodes)} | ({"continuous": continuous} if continuous else {})
    return {"kind": "Bayesian network", "name": model.name} | nodes | {"states": range_} | arcs


def _most(counts: Iterator[int]) -> int:
    return max(counts, default=0)


def _cost(marginals: Mapping[str, Any]) -> str:
    if marginals["bytes"] is None:
        return "do not fit; pgm plan says more"
    size = f"{marginals['entries']:,.4g} entries in all tables, {size_of(marginals['bytes'])}"
    return size if marginals["fits"] else f"do not fit: {size}; pgm plan says more"


def query(given: argparse.Namespace) -> None:
    """Print one posterior, or all."""
    model = _read(given)
    known = evidence(model, given.given)
    if given.targets:
        answer = model.query(given.targets, known, engine=engine(given.engine))
        if given.json:
            _json(_with_report({"given": known} | _distribution(answer), answer.report))
        else:
            _print(repr(answer))
        return
    marginals = model.marginals(known, engine=engine(given.engine))
    if given.json:
        each = [_distribution(p) for p in marginals.values()]
        _json(_with_report({"given": known, "marginals": each}, marginals.report))
    else:
        for p in marginals.values():
            _print(repr(p) + "\n")


def most_probable(given: argparse.Namespace) -> None:
    """Print the best explanation, or the best few."""
    model = _read(given)
    known = evidence(model, given.given)
    if given.k == 1:
        best = [model.map(known, targets=given.targets, engine=engine(given.engine))]
    else:
        best = model.k_best(known, k=given.k, targets=given.targets, engine=engine(given.engine))
    if given.json:
        _json({"given": known, "best": [_explanation(one) for one in best]})
    else:
        _print("\n\n".join(_all_states(one) for one in best))


def sample(given: argparse.Namespace) -> None:
    """Print samples as CSV or JSON."""
    model = _read(given)
    known = evidence(model, given.given)
    drawn = model.sample(given.n, given=known, seed=given.seed, engine=engine(given.engine))
    columns = {name: column.tolist() for name, column in drawn.items()}
    _rows(given, columns, _with_report({"given": known, "columns": columns}, drawn.report))


def _rows(given: argparse.Namespace, columns: Mapping[str, list[Any]], answer: Mapping[str, Any]) -> None:
    """Write columns as CSV or, with --json, the answer that they belong to."""
    with contextlib.ExitStack() as opened:
        out = sys.stdout
        if given.output not in (None, "-"):
            out = opened.enter_context(open(given.output, "w", encoding="utf-8", newline=""))
        if given.json:
            json.dump(_plain(answer), out, ensure_ascii=False, allow_nan=False)
            out.write("\n")
            return
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def predict(given: argparse.Namespace) -> None:
    """Print predictions for the rows of a CSV file."""
    if given.file == given.data == "-":
        raise InvalidArgument("The model and the rows cannot both come from stdin: one of them needs a file.")
    model = _read_any(given, as_it_is=False)
    if isinstance(model, Mixture | RowClassifier):
        _predict_rows(model, given)
        return
    model = _read(given)
    frame = _frame(model, given)
    targets = given.targets or None
    ask = model.predict_proba if given.proba else model.predict
    found = ask(frame, targets, bad_rows=given.bad_rows)
    each = {targets[0]: found} if targets and len(targets) == 1 else found
    columns: dict[str, list[Any]] = {}
    for name, values in each.items():
        if given.proba:
            states = model.variables[name].states
            columns |= {f"{name}={s}": column.tolist() for s, column in zip(states, values.T, strict=True)}
        else:
            columns[name] = values.tolist()
    columns = {name: [None if is_missing(v) else v for v in column] for name, column in columns.items()}
    _rows(given, columns, {"columns": columns})


def _predict_rows(model: Mixture | RowClassifier, given: argparse.Namespace) -> None:
    """Print the component or the class of each row."""
    target = model.variable if isinstance(model, Mixture) else model._target
    if given.targets not in ([], [target.name]):
        raise InvalidArgument(f"This model predicts {shown(target.name)}, and nothing else.")
    if given.bad_rows != "raise":
        raise InvalidArgument("--bad-rows is for networks only.")
    frame: dict[str, list[Any]] = {}
    known = {} if isinstance(model, Mixture) else model._variables
    for name, column in _table(given.data, given.encoding).items():
        if name in known:
            frame[name] = [_cell(known[name], cell) for cell in column]
        elif isinstance(model, Mixture) and name in model.columns:
            frame[name] = _typed(column)
    columns: dict[str, list[Any]] = {target.name: model.predict(frame).tolist()}
    if given.proba:
        shares = zip(target.states, model.predict_proba(frame).T, strict=True)
        columns = {f"{target.name}={state}": column.tolist() for state, column in shares}
    _rows(given, columns, {"columns": columns})


def _frame(model: Model, given: argparse.Namespace) -> dict[str, list[Any]]:
    """Return the columns of a CSV file: texts, floats for continuous variables, None where empty."""
    return {
        name: [_cell(model.variables[name], cell) for cell in column] if name in model.variables else column
        for name, column in _table(given.data, given.encoding).items()
    }


def _table(path: str, encoding: str | None) -> dict[str, list[str]]:
    """The columns of a CSV file as texts."""
    text = read_text(_input(path), encoding)
    try:
        rows = [row for row in csv.reader(io.StringIO(text.content, newline=""), strict=True) if row]
    except csv.Error as error:
        raise InvalidFrame(f"{text.path}: this is not a CSV file: {error}.") from None
    if not rows:
        raise InvalidFrame(f"{text.path}: the file is empty; its first line has the names of the columns.")
    header, *body = rows
    if len(set(header)) < len(header):
        twice = next(name for i, name in enumerate(header) if name in header[:i])
        raise InvalidFrame(f"{text.path}: two columns have the name {shown(twice)}; keep one of them.")
    for index, row in enumerate(body):
        if len(row) != len(header):
            raise InvalidFrame(
                f"{text.path}: row {index} (the first is 0) has {len(row)} cells, and the header has "
                f"{len(header)}."
            )
    cells = list(zip(*body, strict=True)) or [()] * len(header)
    return {name: list(column) for name, column in zip(header, cells, strict=True)}


def _cell(variable: Variable, text: str) -> Any:
    if text in _MISSING and variable.domain.find(text) < 0:
        return None
    if variable.continuous or (variable.bins is not None and variable.domain.find(text) < 0):
        with contextlib.suppress(ValueError):
            return float(text)
    return text


def learn(given: argparse.Namespace) -> None:
    """Learn a network from the rows of a CSV file, print how, and write it; or a mixture."""
    frame = {name: _typed(column) for name, column in _table(given.file, given.encoding).items()}
    if given.components is not None:
        _learn_mixture(given, frame)
        return
    for option in ("form", "starts"):
        if getattr(given, option) is not None:
            raise InvalidArgument(f"--{option} has no effect without --components: it is for mixtures.")
    arcs: dict[str, Any] = {
        name: [arc for text in getattr(given, name) for arc in BayesianNetwork(edges=text).edges]
        for name in ("require", "forbid")
    }
    options: dict[str, Any] = {"score": None, "start": None}
    if given.score is not None:
        options["score"] = _with_options(given.score, pgm.scores.SCORES, "--score")
    found = pgm.learn_structure(
        frame,
        search=_with_options(given.search, pgm.searches.SEARCHES, "--search"),
        max_parents=given.max_parents,
        tiers=[tier.split(",") for tier in given.tiers] or None,
        bootstrap=given.bootstrap,
        seed=given.seed,
        continuous=given.continuous,
        name=_called(given),
        **arcs,
        **options,
    )
    _keep(given, found.network)
    if given.json and given.output != "-":
        answer = found.to_dict()
        if found.confidence is not None:
            answer["confidence"] = [[a, b, share] for (a, b), share in found.confidence.items()]
        _json(_plain(answer))
    elif given.output != "-":
        _print(repr(found))


def _called(given: argparse.Namespace) -> str:
    """The name of a model that is learned from a file."""
    return os.path.splitext(os.path.basename(given.file))[0] if given.file != "-" else ""


def _keep(given: argparse.Namespace, model: Any) -> None:
    """Write the learned model if requested."""
    if given.output is None:
        return
    if given.output == "-" and given.to is None:
        raise InvalidArgument(
            f"stdout has no name to tell the format from: --to is one of {listed(FORMATS)}."
        )
    pgm.write(model, _standard_output(given.output), format=given.to)


_OF_NETWORKS: dict[str, Any] = {
    **{"search": "tabu", "max_parents": None, "bootstrap": 0},
    **{"require": [], "forbid": [], "tiers": []},
}


def _learn_mixture(given: argparse.Namespace, frame: dict[str, list[Any]]) -> None:
    """Learn a mixture: of this many components, or of as many as a score says."""
    for option, plain in _OF_NETWORKS.items():
        if getattr(given, option) != plain:
            raise InvalidArgument(
                f"--{option.replace('_', '-')} has no effect with --components: a mixture has no arrows."
            )
    bounds = re.fullmatch(r"(\d+)(?:-(\d+))?", given.components)
    if bounds is None or not 1 <= int(bounds[1]) <= int(bounds[2] or bounds[1]):
        raise InvalidArgument(f"--components is a number such as 3, or 1-6, not {shown(given.components)}.")
    if given.score is not None and (bounds[2] is None or given.score not in ("bic", "aic")):
        raise InvalidArgument("--score is bic or aic, and chooses where --components is a range such as 1-6.")
    emission = emission_of(frame, form=given.form or "full", continuous=given.continuous)
    starts = 5 if given.starts is None else given.starts
    answer: dict[str, Any] = {}
    if bounds[2] is None:
        model = pgm.Mixture(n_components=int(bounds[1]), emission=emission, name=_called(given))
        model.fit(frame, starts=starts, seed=given.seed)
        said = f"{model!r}\n\n{model.fit_report!r}"
    else:
        sizes = range(int(bounds[1]), int(bounds[2]) + 1)
        found = pgm.select_components(
            frame, emission=emission, n_components=sizes, score=given.score or "bic", starts=starts,
            seed=given.seed,
        )  # fmt: skip
        model, answer = found.model, {"candidates": found.to_dict()}
        model.name = _called(given)
        said = f"{found!r}\n\n{model!r}"
    _keep(given, model)
    if given.json and given.output != "-":
        report = model.fit_report
        assert report is not None
        shares = {str(s): p for s, p in zip(model.states, model.weights.tolist(), strict=True)}
        _json(_plain({"components": model.n_components, "weights": shares, **report.to_dict(), **answer}))
    elif given.output != "-":
        _print(said)


def _typed(column: list[str]) -> list[Any]:
    """The cells of a column as integers or floats if all of them are, else as text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return [None if cell in _MISSING else kind(cell) for cell in column]
    return [None if cell in _MISSING else cell for cell in column]


def solve(given: argparse.Namespace) -> None:
    """Print a policy, its tables and its expected utility; one that a file holds is printed as it is."""
    kept = _read_any(given, as_it_is=True) if given.file != "-" and not given.given else None
    if isinstance(kept, Policy):
        policy, known = kept, dict(kept.given)
    else:
        diagram = kept if isinstance(kept, InfluenceDiagram) else _read_diagram(given)
        known = evidence(diagram, given.given)
        policy = diagram.solve(known)
    rules = {name: policy[name] for name in given.decisions or policy}
    if given.json:
        tables = {name: _rows_of(rule) for name, rule in rules.items()}
        answer = {"given": known, "expected_utility": float(policy.expected_utility), "policy": tables}
        _json(_with_report(answer, policy.report))
        return
    shown_ = [] if given.decisions else [repr(policy)]
    _print("\n\n".join([*shown_, *[repr(rule) for rule in rules.values()]]))


def _rows_of(rule: Rule) -> list[dict[str, Any]]:
    names, states = [v.name for v in rule.given], rule.decision.states
    rows = []
    for key, action in rule.items():
        case = (key,) if len(names) == 1 else key
        at = tuple([v.code(state) for v, state in zip(rule.given, case, strict=True)])
        each = {
            str(s): float(w) if math.isfinite(w) else None
            for s, w in zip(states, rule.worth[at], strict=True)
        }
        rows.append({"given": dict(zip(names, case, strict=True)), "action": action, "worth": each})
    return rows


def value(given: argparse.Namespace) -> None:
    """Print the value of information."""
    diagram = _read_diagram(given)
    known = evidence(diagram, given.given)
    worth = diagram.value_of_information(given.names or None, before=given.before, given=known)
    if not given.json:
        _print(repr(worth) if not given.names else f"{float(worth):.6g}")
    elif given.names:
        _json({"given": known, "names": given.names, "value": float(worth)})
    else:
        _json({"given": known, "before": worth.before, "values": dict(worth)})


def explain(given: argparse.Namespace) -> None:
    """Print why an answer is what it is."""
    net = _read_network(given)
    known = evidence(net, given.given)
    state = _own_state(net, given)
    if given.shapley:
        values = net.shapley(given.target, known, state=state)
        if given.json:
            about = {"target": given.target, "state": values.aim.state, "given": known}
            _json({**about, "before": values.before, "after": values.aim.probability, "values": dict(values)})
        else:
            _print(repr(values))
        return
    why = net.explain(given.target, known, state=state)
    if given.json:
        about = {"target": why.target, "state": why.state, "given": known}
        _json({**about, **why.to_dict(), "story": why.story})
    else:
        _print(f"{why!r}\n\n{why.story}")


def next_look(given: argparse.Namespace) -> None:
    """Print what is most informative about a variable, or a diagnosis."""
    net = _read_network(given)
    known = evidence(net, given.given)
    if given.tree:
        tree = net.diagnosis(given.target, known, over=given.over, sure=given.sure)
        if given.json:
            about = {"target": given.target, "given": known, "right": tree.right, "questions": tree.questions}
            _json({**about, "tree": tree.to_dict()})
        else:
            _print(repr(tree))
        return
    found = net.informative(given.target, known, over=given.over)
    if given.json:
        _json({"target": given.target, "given": known, "entropy": found.entropy, "nats": dict(found)})
    else:
        _print(repr(found))


def sensitivity(given: argparse.Namespace) -> None:
    """Print the derivatives of an answer, or what would have to change."""
    net = _read_network(given)
    known = evidence(net, given.given)
    state = _own_state(net, given)
    if given.at_least is not None or given.at_most is not None:
        goal = {"at_least": given.at_least, "at_most": given.at_most}
        tuned = net.tune(given.target, known, state=state, **goal)
        if given.json:
            changes = [{"parameter": c.text, "value": c.value, "to": c.to} for c in tuned]
            _json({"target": given.target, "state": tuned.aim.state, "given": known, "changes": changes})
        else:
            _print(repr(tuned))
        return
    found = net.sensitivity(given.target, known, state=state)
    if given.json:
        rows = [{"parameter": c.text, "value": c.value, "derivative": c.derivative} for c in found]
        about = {"target": given.target, "state": found.state, "given": known}
        _json({**about, "probability": found.probability, "parameters": rows, "left_out": found.left_out})
    else:
        _print(repr(found))


def _read_network(given: argparse.Namespace) -> BayesianNetwork:
    model = _read(given)
    if not isinstance(model, BayesianNetwork):
        raise InvalidArgument(f"{given.file} holds no Bayesian network: it has no arrows to explain it with.")
    return model


def _own_state(net: BayesianNetwork, given: argparse.Namespace) -> Any:
    if given.state is None:
        return None
    (state,) = evidence(net, [f"{given.target}={given.state}"]).values()
    return state


def identify(given: argparse.Namespace) -> None:
    """Print the formula of an effect, or what prevents identification."""
    graph = _causal_graph(given)
    try:
        found = graph.identify(given.of, do=given.do, given=given.seen)
    except NotIdentifiable as error:
        if not given.json:
            raise
        outer, inner = error.hedge
        hedge = {"outer": list(outer), "inner": list(inner)}
        _json({"question": error.question, "identifiable": False, "hedge": hedge, "between": error.bounds})
        return
    if given.json:
        _json({"identifiable": True} | found.to_dict())
    else:
        _print(found.latex if given.latex else repr(found))


def _causal_graph(given: argparse.Namespace) -> CausalGraph:
    if "->" in given.graph or "<-" in given.graph:
        graph = CausalGraph(given.graph)
        if given.hidden:
            arrows = BayesianNetwork(edges=graph.edges)
            if graph.common:
                raise InvalidArgument("--hidden is for graphs without <->: write each hidden cause one way.")
            return arrows.causal_graph(given.hidden)
        return graph
    given.file, given.format, given.encoding = given.graph, None, None
    model = _read_any(given, as_it_is=True)
    if isinstance(model, CausalGraph) and not given.hidden:
        return model
    if isinstance(model, BayesianNetwork):
        return model.causal_graph(given.hidden)
    raise InvalidArgument(f"{given.graph} holds neither a causal graph nor a Bayesian network with arrows.")


def plan(given: argparse.Namespace) -> None:
    """Print what a question costs."""
    model = _read_any(given, as_it_is=False)
    if isinstance(model, InfluenceDiagram):
        costs = model.plan(evidence(model, given.given))
        _json(costs.to_dict()) if given.json else _print(repr(costs))
        return
    if not hasattr(model, "plan"):
        raise _no_questions(given, model)
    known = evidence(model, given.given)
    cost = model.plan(given.targets or None, known, engine=engine(given.engine))
    if given.json:
        _json(cost.to_dict())
    else:
        _print(repr(cost))


def convert(given: argparse.Namespace) -> None:
    """Write the model again."""
    if given.output == "-" and given.to is None:
        raise InvalidArgument(
            f"stdout has no name to tell the format from: --to is one of {listed(FORMATS)}."
        )
    model = _read(given, as_it_is=True)
    try:
        pgm.write(model, _standard_output(given.output), format=given.to, expand=given.expand)
    except InvalidArgument as error:
        raise InvalidArgument(str(error).replace("pass format=", "use --to")) from None


def _standard_output(path: str) -> Any:
    """Return a file to write: the path, or stdout."""
    return getattr(sys.stdout, "buffer", sys.stdout) if path == "-" else path


def plot(given: argparse.Namespace) -> None:
    """Draw the model into a file."""
    ending = given.to or os.path.splitext(given.output)[1].removeprefix(".").lower()
    if ending not in _PICTURES:
        raise InvalidArgument(
            f"-o {given.output}: the ending, or --to, decides how to draw; there are {listed(_PICTURES)}."
            f"{nearest(ending, _PICTURES)}"
        )
    asked = bool(given.given or given.posteriors or given.kind != "network")
    model = _read_any(given, as_it_is=not asked)
    known = evidence(model, given.given)
    if isinstance(model, InfluenceDiagram) and given.kind != "network":
        raise InvalidArgument("--kind is for networks; an influence diagram has one picture.")
    options = {"given": known if known or given.posteriors else None, "kind": given.kind} if asked else {}
    if isinstance(model, InfluenceDiagram):
        options.pop("kind", None)
    ax = model.plot(**options)
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.savefig(_standard_output(given.output), format=ending, bbox_inches="tight")


# --- answers ---------------------------------------------------------------------------------------------


def _print(text: str) -> None:
    table, mark, report = text.partition("\nAPPROXIMATE (")  # the report may suggest what to try
    sys.stdout.write(f"{table}{mark}{in_shell_words(report)}\n")


def _json(answer: object) -> None:
    _print(json.dumps(_plain(answer), indent=2, ensure_ascii=False, allow_nan=False))


def _distribution(p: Distribution | Density) -> dict[str, Any]:
    if isinstance(p, Density):
        return {
            "variables": list(p.names),
            "mean": np.asarray(p.mean).tolist(),
            "sd": np.asarray(p.std).tolist(),
        }
    cells = zip(product(*(v.states for v in p.variables)), map(float, p.values.flat), strict=True)
    rows = [{"states": dict(zip(p.names, key, strict=True)), "p": value} for key, value in cells]
    return {"variables": list(p.names), "table": rows}


def _explanation(best: Assignment) -> dict[str, Any]:
    found = {"states": best.to_dict(), "log_joint": best.log_joint, "bound": best.bound}
    with contextlib.suppress(pgm.TooLarge):  # P(given) may be too large where the maximum is not
        found |= {"probability": float(best.probability), "log_probability": best.log_probability}
    return _with_report(found, best.report)


def _all_states(best: Assignment) -> str:
    """One line for each variable, and their joint probability."""
    width = max(map(len, best), default=0)
    lines = [f"{name:<{width}}  {state}" for name, state in best.items()]
    try:
        lines.append(f"probability {best.probability:.6g}")
    except pgm.TooLarge:  # P(given) may be too large where the maximum is not
        lines.append(f"log joint {best.log_joint:.10g}")
    return "\n".join(lines if best.exact else [*lines, best.report.summary])


def _with_report(answer: dict[str, Any], report: Report) -> dict[str, Any]:
    return answer | {"exact": report.exact, "engine": report.engine, "report": in_shell_words(report.summary)}


def _plain(value: Any) -> Any:
    """A state, a number or a mapping of these as JSON has it; anything else as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


if __name__ == "__main__":
    run()
