"""The `pgm` command: a model from a file, a question to it, the answer on the terminal or as JSON.

A user's mistake is one line on stderr and exit code 2; answers go to stdout, all else to stderr.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NoReturn

import numpy as np

import pgm
from pgm.densities import Density
from pgm.errors import InvalidArgument, PGMError, UnknownVariable, listed, nearest, shown
from pgm.inference.plan import size_of
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.results import Assignment, Distribution, Report
from pgm.variables import Variable

Model = BayesianNetwork | MarkovNetwork

_MISTAKE, _INTERRUPTED = 2, 130
_PICTURES = ("png", "svg", "pdf", "jpg", "webp", "eps")
_KNOWN = """\
what is known, as NAME=STATE, for numbers NAME=3.7; NAME=a|b is one of several states, NAME!=a any other
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process; return its exit code."""
    try:
        given = _parser().parse_args(arguments)
        with _limits(given), warnings.catch_warnings():
            warnings.showwarning = _warned
            given.command(given)
            sys.stdout.flush()
    except PGMError as error:
        return _failed(str(error))
    except BrokenPipeError:  # whoever read the answer has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return _INTERRUPTED
    return 0


def run() -> NoReturn:
    """Run the command as a process, which ends with its answer, whatever still compiles beside it."""
    try:
        code = main()
    except SystemExit as stopped:  # argparse has printed its help, or one line
        code = int(stopped.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _failed(message: str) -> int:
    sys.stderr.write(f"pgm: {message.strip().splitlines()[0]}\n")
    return _MISTAKE


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"pgm: warning: {' '.join(str(message).split())}\n")


# --- what is asked ---------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, and where there is more to read."""
        self.exit(_MISTAKE, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> _Parser:
    parser = _Parser(prog="pgm", description="Ask networks of probabilities.", epilog=_examples())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--version", action="version", version=f"pgm {pgm.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], None], said: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=said, description=f"{said[0].upper()}{said[1:]}.")
        made.set_defaults(command=run)
        made.add_argument(
            "file", help="a model: a file, packed or not, or the name of a network that comes with pgm"
        )
        made.add_argument("--format", help="of the file, where its name does not tell")
        return made

    def answers(made: argparse.ArgumentParser, *, engine: bool = True) -> None:
        made.add_argument("--json", action="store_true", help="print JSON, for programs")
        if engine:
            made.add_argument("--engine", default="auto", help="exact by itself; others as in pgm.engines")
        made.add_argument("--memory", metavar="SIZE", help='the most that may be used, such as "4 GB"')
        made.add_argument("--time", metavar="SECONDS", type=float, help="the most that an answer may take")

    def known(made: argparse.ArgumentParser) -> None:
        made.add_argument("--given", nargs="+", default=[], metavar="NAME=STATE", help=_KNOWN)

    made = command("info", info, "say what a model consists of, and what exact answers cost")
    answers(made, engine=False)

    made = command("query", query, "print P(targets | given), for several targets jointly")
    made.add_argument("targets", nargs="*", default=[], help="variables; none: every variable by itself")
    known(made)
    answers(made)

    made = command("map", most_probable, "print the most probable states of all that is not known")
    made.add_argument("--targets", nargs="+", metavar="NAME", help="only of these, the others summed out")
    made.add_argument("-k", type=int, default=1, help="so many of the most probable (default 1)")
    known(made)
    answers(made)

    made = command("sample", sample, "draw cases, printed as CSV")
    made.add_argument("n", type=int, help="how many")
    made.add_argument("--seed", type=int, help="the same seed draws the same cases")
    made.add_argument("-o", "--output", metavar="FILE", help="write there in place of stdout")
    known(made)
    answers(made)

    made = command("plan", plan, "say what a question would cost, without asking it")
    made.add_argument("targets", nargs="*", default=[], help="variables; none: every variable by itself")
    known(made)
    answers(made)

    made = command("convert", convert, "write a model in another format, which its new name tells")
    made.add_argument("output", help="the new file")
    made.add_argument("--to", metavar="FORMAT", help="of the new file, where its name does not tell")
    made.add_argument("--expand", action="store_true", help="write tables for what the format cannot hold")

    made = command("plot", plot, "draw a model into a PNG, SVG or PDF file")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="where to; its ending decides")
    made.add_argument("--kind", default="network", help="or junction-tree, factor-graph, moral")
    made.add_argument(
        "--posteriors", action="store_true", help="with what is believed where nothing is known"
    )
    known(made)
    return parser


def _examples() -> str:
    return """\
examples:
  pgm info alarm.bif
  pgm query alarm.bif HR --given CVP=LOW BP=HIGH
  pgm map alarm.bif --given CVP=LOW --json
  pgm plot alarm.bif -o alarm.svg --given CVP=LOW
"""


def _limits(given: argparse.Namespace) -> contextlib.AbstractContextManager[object]:
    limits = {"memory_limit": getattr(given, "memory", None), "time_limit": getattr(given, "time", None)}
    return pgm.config(
        progress=sys.stderr.isatty(), **{name: value for name, value in limits.items() if value is not None}
    )


def _read(given: argparse.Namespace) -> Model:
    if given.format is None and not os.path.exists(given.file) and given.file in pgm.list_networks():
        return pgm.load_network(given.file)
    return pgm.read(given.file, format=given.format)


def evidence(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Return what is known, from texts like NAME=STATE.

    >>> net = pgm.BayesianNetwork()
    >>> net.add("sky", {"blue": 0.7, "grey": 0.2, "black": 0.1})
    >>> evidence(net, ["sky!=black"])
    {'sky': Not('black')}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, state = _halves(model, text)
        if name in found:
            raise InvalidArgument(f"--given says twice what {shown(name)} is.")
        found[name] = state
    return found


def _halves(model: Model, text: str) -> tuple[str, Any]:
    """Split at an equals sign that leaves a variable's name on its left: names and states may have others."""
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
    """Print what a model consists of."""
    model = _read(given)
    facts = _facts(model)
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
    rows = [(name, f"{value:,}" if isinstance(value, int) else str(value)) for name, value in facts.items()]
    rows.append(("exact answers", _cost(marginals)))
    _print("\n".join(f"{name:<16}{text}" for name, text in rows if text))


def _facts(model: Model) -> dict[str, Any]:
    states = [v.card for v in model.variables.values() if not v.continuous]
    numbers = len(model.variables) - len(states)
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
    nodes = {"nodes": len(model.nodes)} | ({"continuous": numbers} if numbers else {})
    return {"kind": "Bayesian network", "name": model.name} | nodes | {"states": range_} | arcs


def _most(numbers: Iterator[int]) -> int:
    return max(numbers, default=0)


def _cost(marginals: Mapping[str, Any]) -> str:
    if marginals["bytes"] is None:
        return "do not fit; pgm plan says more"
    size = f"{marginals['entries']:,.4g} entries in all tables, {size_of(marginals['bytes'])}"
    return size if marginals["fits"] else f"do not fit: {size}; pgm plan says more"


def query(given: argparse.Namespace) -> None:
    """Print a posterior, or all."""
    model = _read(given)
    known = evidence(model, given.given)
    if given.targets:
        answer = model.query(given.targets, known, engine=given.engine)
        if given.json:
            _json(_with_report({"given": known} | _distribution(answer), answer.report))
        else:
            _print(repr(answer))
        return
    marginals = model.marginals(known, engine=given.engine)
    if given.json:
        each = [_distribution(p) for p in marginals.values()]
        _json(_with_report({"given": known, "marginals": each}, marginals.report))
    else:
        for p in marginals.values():
            _print(repr(p) + "\n")


def most_probable(given: argparse.Namespace) -> None:
    """Print the best explanation, or several."""
    model = _read(given)
    known = evidence(model, given.given)
    if given.k == 1:
        best = [model.map(known, targets=given.targets, engine=given.engine)]
    else:
        best = model.k_best(known, k=given.k, targets=given.targets, engine=given.engine)
    if given.json:
        _json({"given": known, "best": [_explanation(one) for one in best]})
    else:
        _print("\n\n".join(_all_states(one) for one in best))


def sample(given: argparse.Namespace) -> None:
    """Print cases as CSV, or JSON."""
    model = _read(given)
    known = evidence(model, given.given)
    drawn = model.sample(given.n, given=known, seed=given.seed, engine=given.engine)
    with _output(given.output) as out:
        if given.json:
            columns = {name: column.tolist() for name, column in drawn.items()}
            json.dump(_plain(_with_report({"given": known, "columns": columns}, drawn.report)), out)
            out.write("\n")
            return
        import csv

        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(drawn)
        writer.writerows(zip(*(column.tolist() for column in drawn.values()), strict=True))


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[Any]:
    if path is None:
        yield sys.stdout
    else:
        with open(path, "w", encoding="utf-8", newline="") as out:
            yield out


def plan(given: argparse.Namespace) -> None:
    """Print what a question costs."""
    model = _read(given)
    known = evidence(model, given.given)
    cost = model.plan(given.targets or None, known, engine=given.engine)
    if given.json:
        _json(cost.to_dict())
    else:
        _print(repr(cost))


def convert(given: argparse.Namespace) -> None:
    """Write the model again."""
    pgm.write(_read(given), given.output, format=given.to, expand=given.expand)


def plot(given: argparse.Namespace) -> None:
    """Draw the model into a file."""
    ending = os.path.splitext(given.output)[1].removeprefix(".").lower()
    if ending not in _PICTURES:
        raise InvalidArgument(
            f"-o {given.output}: the ending decides how to draw; there are {listed(_PICTURES)}."
            f"{nearest(ending, _PICTURES)}"
        )
    model = _read(given)
    known = evidence(model, given.given)
    ax = model.plot(given=known if known or given.posteriors else None, kind=given.kind)
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.savefig(given.output, bbox_inches="tight")


# --- answers ---------------------------------------------------------------------------------------------


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _json(answer: object) -> None:
    _print(json.dumps(_plain(answer), indent=2, ensure_ascii=False, allow_nan=False))


def _distribution(p: Distribution) -> dict[str, Any]:
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
    with contextlib.suppress(pgm.TooLarge):  # P(given) may be too large a sum where the maximum is not
        found |= {"probability": float(best.probability), "log_probability": best.log_probability}
    return _with_report(found, best.report)


def _all_states(best: Assignment) -> str:
    """One line for each variable, and how probable they are together."""
    width = max(map(len, best), default=0)
    lines = [f"{name:<{width}}  {state}" for name, state in best.items()]
    try:
        lines.append(f"probability {best.probability:.6g}")
    except pgm.TooLarge:  # P(given) may be too large a sum where the maximum is not
        lines.append(f"log joint {best.log_joint:.10g}")
    return "\n".join(lines if best.exact else [*lines, best.report.summary])


def _with_report(answer: dict[str, Any], report: Report) -> dict[str, Any]:
    return answer | {"exact": report.exact, "engine": report.engine, "report": report.summary}


def _plain(value: Any) -> Any:
    """What JSON has for a state, a number or a mapping of them; the text of anything else."""
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
