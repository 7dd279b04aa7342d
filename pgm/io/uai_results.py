"""The result files of the UAI competitions: a word that names the question, then numbers.

    MAR     how many variables; for each how many states and their probabilities
    MAP     how many variables; for each its state (also MPE)
    PR      the logarithm to base 10 of the probability of what was observed, or of the partition function

If several answers begin with -BEGIN-, the last one counts; the older form has the number of samples of
evidence, which must be one, before the answer. Observed variables are included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.errors import ImpossibleEvidence, InvalidArgument, UnknownVariable, listed, shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.results import Assignment, Logarithm, Marginals, Probability, Report
from pgm.variables import Variable

from .numbers import THIS, WORD, Numbers, without_comments
from .text import NUMBER, File, Text, read_text, write_text
from .uai import observed_codes, variables_of

_BEGIN = "-BEGIN-"
_OFF = 1e-3  # how far probabilities may be from summing to one: solvers round, and some approximate
_READ = Report("UAI result file", exact=False, advice="it does not say how exact it is")


@guarded
def read_result(file: File, model: BayesianNetwork | MarkovNetwork) -> Marginals | Assignment | Logarithm:
    """Read the answer to a question about a model, a result file of the UAI competitions.

    Args:
        file: a path or an open file: MAR gives the marginals, MAP the most probable states, PR the (natural)
            logarithm of the probability of what was observed or, without that, of the partition function.
        model: the model that was asked; the file refers to its variables and states by index only.

    Raises:
        FileFormatError: the file does not follow its format; with line and column.
        OSError: it cannot be opened.
        TooLarge: it is larger than the memory limit allows.

    >>> import io, pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", {"no": 0.75, "yes": 0.25})
    >>> pgm.read_result(io.StringIO("MAR 1 2 0.75 0.25"), net)["rain"]["yes"]
    0.25
    >>> pgm.read_result(io.StringIO("MAP 1 0"), net)["rain"]
    'no'
    """
    variables = list(variables_of(model).values())
    source = read_text(file)
    content = without_comments(source)
    first = WORD.search(content)
    task = first[0] if first else ""
    if first is None or task not in ("MAR", "MAP", "MPE", "PR"):
        what = shown(task) if first else "the end of the file"
        message = f"a result file begins with MAR, MAP, MPE or PR; found {what}"
        raise source.error(message, first.start() if first else 0)
    last = content.rfind(_BEGIN)
    start = last + len(_BEGIN) if last >= 0 else first.end()
    if task == "PR":
        return _logarithm(source, content, start)
    numbers = Numbers(source, content, start)
    expected = sum(variable.card + 1 for variable in variables) if task == "MAR" else len(variables)
    if numbers.size == expected + 2 and numbers.values[0] == 1.0:
        numbers.pos = 1  # one sample
    if numbers.count("the number of variables") != len(variables):
        numbers.fail(
            f"the file is about {THIS} variables, and the model has {len(variables)}", numbers.pos - 1
        )
    found = _marginals(numbers, variables) if task == "MAR" else _assignment(numbers, variables, model)
    if numbers.pos < numbers.size:
        numbers.fail(f"expected the end of the file, found {THIS}", numbers.pos)
    return found


def _logarithm(source: Text, content: str, start: int) -> Logarithm:
    words = list(WORD.finditer(content, start))
    if len(words) == 2 and words[0][0] == "1":
        del words[0]  # one sample
    if not words:
        raise source.error("the file ends before the logarithm", len(content.rstrip()))
    word = words[0][0]
    log = float(word) * math.log(10.0) if NUMBER.fullmatch(word) else math.inf
    if not math.isfinite(log) and word != "-inf":
        raise source.error(f"expected a logarithm, found {shown(word)}", words[0].start())
    if len(words) > 1:
        raise source.error(f"expected the end of the file, found {shown(words[1][0])}", words[1].start())
    return Logarithm(-math.inf if word == "-inf" else log, _READ)


def _marginals(numbers: Numbers, variables: list[Variable]) -> Marginals:
    offsets = [0]
    parts = []
    for number, variable in enumerate(variables):
        at = numbers.pos
        what = f"variable {number} ({variable.name!r})"
        if numbers.count(f"the number of states of {what}") != variable.card:
            numbers.fail(f"{what} has {variable.card} states in the model and {THIS} in the file", at)
        values = numbers.values[numbers.pos : numbers.pos + variable.card]
        if values.size < variable.card:
            numbers.fail(f"the file ends within the probabilities of {what}", numbers.size)
        total = float(values.sum())
        if not abs(total - 1.0) <= _OFF:
            numbers.fail(f"the probabilities of {what} sum to {total:.10g}, not to 1", at)
        parts.append(values)
        offsets.append(offsets[-1] + variable.card)
        numbers.pos += variable.card
    return Marginals(variables, np.concatenate(parts or [np.empty(0)]), offsets, _READ)


def _assignment(
    numbers: Numbers, variables: list[Variable], model: BayesianNetwork | MarkovNetwork
) -> Assignment:
    at = numbers.pos
    codes = numbers.counts(len(variables), "the state of variable")
    for number, (code, variable) in enumerate(zip(codes, variables, strict=True)):
        if code >= variable.card:
            last = variable.card - 1
            message = f"variable {number} ({variable.name!r}) has the states 0 to {last}, not {THIS}"
            numbers.fail(message, at + number)
    states = {v.name: v.states[code] for code, v in zip(codes, variables, strict=True)}
    try:
        log_joint = model.map(states).log_joint  # every state is given, so this is their joint probability
    except ImpossibleEvidence:
        log_joint = -math.inf
    return Assignment(variables, codes, None, log_joint, _READ, bound=math.inf)


# --- writing ------------------------------------------------------------------------------------------------


@guarded
def write_result(
    answer: Marginals | Assignment | Probability | Logarithm,
    file: File,
    model: BayesianNetwork | MarkovNetwork,
    *,
    given: Mapping[str, Any] | None = None,
) -> None:
    """Write the answer to a question about a model as a result file of the UAI competitions.

    Args:
        answer: what `marginals`, `map`, `probability` or `log_partition` of the model gave.
        file: a path, packed by gzip if it ends in .gz, or an open file.
        model: the model that was asked; the file refers to its variables and states by index only.
        given: what was observed; such variables are not in the answer, but are in the file.

    Raises:
        InvalidArgument: the answer does not cover all unobserved variables of the model.
        OSError: the file cannot be written.

    >>> import io, pgm
    >>> net = pgm.BayesianNetwork()
    >>> net.add("rain", {"no": 0.75, "yes": 0.25})
    >>> net.add("wet", {"no": 0.5, "yes": 0.5})
    >>> file = io.StringIO()
    >>> pgm.write_result(net.marginals({"wet": "yes"}), file, net, given={"wet": "yes"})
    >>> file.getvalue().split()
    ['MAR', '2', '2', '0.75', '0.25', '2', '0.0', '1.0']
    """
    variables = variables_of(model)
    known = observed_codes(model, given)
    if isinstance(answer, Probability | Logarithm):
        log = answer.log if isinstance(answer, Probability) else answer
        text = f"PR\n{float(log) / math.log(10.0)!r}\n"
    elif isinstance(answer, Marginals):
        _check(answer, variables, known)
        rows = [
            answer[name].values.tolist() if name in answer else np.eye(1, v.card, known[name])[0].tolist()
            for name, v in variables.items()
        ]
        words = [str(word) for row in rows for word in (len(row), *row)]
        text = f"MAR\n{' '.join([str(len(rows)), *words])}\n"
    elif isinstance(answer, Assignment):
        _check(answer, variables, known)
        found = dict(zip(answer, answer.codes.tolist(), strict=True))
        words = [str(found[name] if name in found else known[name]) for name in variables]
        text = f"MAP\n{' '.join([str(len(words)), *words])}\n"
    else:
        raise InvalidArgument(
            "A result file holds what `marginals`, `map`, `probability` or `log_partition` gave, not "
            f"{shown(answer)}."
        )
    write_text(file, text)


def _check(
    answer: Marginals | Assignment, variables: Mapping[str, Variable], known: Mapping[str, int]
) -> None:
    """Raise unless the answer covers exactly the variables of the model."""
    for variable in answer.variables:
        if variable.name not in variables:
            raise UnknownVariable(variable.name, variables, "The answer is of another model")
        if variable != variables[variable.name]:
            raise InvalidArgument(f"{variable.name!r} has other states in the answer than in the model.")
        if variable.name in known:
            raise InvalidArgument(f"{variable.name!r} is in given= and in the answer: it was not observed.")
    missing = [name for name in variables if name not in answer and name not in known]
    if missing:
        raise InvalidArgument(
            f"The answer lacks {listed(missing)}; a result file has every variable. Observed ones "
            "are passed as given=."
        )
