"""UAI, the format of the UAI inference competitions (2006-2022): tables of variables that are only numbered.

    MARKOV or BAYES; the number of variables, and of the states of each; the number of tables; for each table
    how many variables it has and which; then for each table how many numbers it has and these, the last
    variable changing fastest.

A variable that was read is called "x0", "x1", ... and its states are 0, 1, ...; a model that is written keeps
the order of its variables and states and loses their names. What was observed has a file of its own, `.evid`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from pgm.calls import guarded
from pgm.config import current
from pgm.cpds import table_input
from pgm.cpds.table import TableCPD
from pgm.errors import (
    FileFormatError,
    InvalidArgument,
    InvalidEvidence,
    InvalidStructure,
    InvalidTable,
    TooLarge,
    counted,
    listed,
    shown,
)
from pgm.evidence import observe
from pgm.factors import Dense, Sparse
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.runtime.progress import each
from pgm.variables import State, Variable, as_domain

from .numbers import THIS, WORD, Numbers, without_comments
from .refusals import Refusals
from .text import File, Text, read_text
from .writing import check_states, tables

_BYTES_A_STATE = 500  # memory of a state in a Domain
_BYTES_A_NUMBER = 64  # memory of a number while it is turned into text
_FEW = 10_000  # states that a variable without a table may announce


# --- reading ------------------------------------------------------------------------------------------------


def read(source: Text) -> MarkovNetwork | BayesianNetwork:
    """Read a model: a Markov network, or a Bayesian one if the file says BAYES and its tables fit that."""
    content = without_comments(source)
    first = WORD.search(content)
    if first is None or first[0] not in ("MARKOV", "BAYES"):
        found = shown(first[0]) if first else "the end of the file"
        message = f"a UAI file begins with MARKOV or BAYES; found {found}"
        raise source.error(message, first.start() if first else 0)
    numbers = Numbers(source, content, first.end())
    cards = numbers.counts(numbers.count("the number of variables"), "the number of states of variable", 1)
    scopes = _scopes(numbers, len(cards))
    variables = _variables(numbers, cards, scopes)
    tables, places = [], []
    for number, scope in enumerate(each(scopes, "reading tables")):
        places.append(numbers.pos)
        tables.append(_table(numbers, number, scope, [cards[variable] for variable in scope]))
    if numbers.pos < numbers.size:
        numbers.fail(f"expected the end of the file, found {THIS}", numbers.pos)
    if first[0] == "BAYES":
        return _bayesian(numbers, variables, scopes, tables, places)
    made = MarkovNetwork()
    factors = [Dense(np.array([s], dtype=np.int64), t) for s, t in zip(scopes, tables, strict=True)]
    made._take({variable.name: variable.domain for variable in variables}, factors)
    return made


def _scopes(numbers: Numbers, n: int) -> list[list[int]]:
    scopes = []
    count = numbers.at_most_left(numbers.count("the number of tables"), "tables")
    for number in each(range(count), "reading scopes"):
        at = numbers.pos
        size = numbers.count(f"how many variables table {number} has")
        scope = numbers.counts(size, f"in table {number} the number of variable")
        if scope and max(scope) >= n:
            place = at + 1 + next(i for i, variable in enumerate(scope) if variable >= n)
            numbers.fail(f"table {number}: there is no variable {THIS}; they are 0 to {n - 1}", place)
        if len(set(scope)) < len(scope):
            numbers.fail(f"table {number}: a variable appears twice among {listed(scope)}", at)
        scopes.append(scope)
    return scopes


def _table(numbers: Numbers, number: int, scope: list[int], shape: list[int]) -> np.ndarray:
    at = numbers.pos
    size = numbers.count(f"how many numbers table {number} has")
    needed = table_input.product(shape)
    if size != needed:
        message = f"table {number} has {THIS} numbers; its variables {listed(scope)} need {counted(needed)}"
        numbers.fail(message, at)
    if len(shape) > table_input.MAX_AXES:
        numbers.fail(f"table {number} has {len(shape)} variables; the most is {table_input.MAX_AXES}", at)
    if size > numbers.size - numbers.pos:
        numbers.fail(f"the file ends within the {size:,} numbers of table {number}", numbers.size)
    values = numbers.values[numbers.pos : numbers.pos + size].reshape(shape)
    values.flags.writeable = False
    numbers.pos += size
    return values


def _variables(numbers: Numbers, cards: list[int], scopes: list[list[int]]) -> list[Variable]:
    used = {variable for scope in scopes for variable in scope}
    for variable, card in enumerate(cards):
        # A table has at least one number per state, which bounds what is announced; without a table ...
        if card > max(_FEW, numbers.size) or (variable not in used and card > _FEW):
            numbers.fail(
                f"variable {variable}: {card:,} states are announced, and no table has them", 1 + variable
            )
    sizes = sorted(set(cards))
    if sum(sizes) * _BYTES_A_STATE > current().memory_limit:
        raise TooLarge(
            f"{numbers.source.path}: the variables have {sum(sizes):,} different states; they would not fit"
        )
    domains = {card: as_domain(range(card)) for card in sizes}
    return [Variable.of(f"x{number}", domains[card]) for number, card in enumerate(cards)]


def _bayesian(
    numbers: Numbers,
    variables: list[Variable],
    scopes: list[list[int]],
    tables: list[np.ndarray],
    places: list[int],
) -> BayesianNetwork:
    remedy = "; a product of any tables begins with MARKOV instead of BAYES"
    cpds: dict[int, TableCPD] = {}
    refusals = Refusals()
    for number, (scope, table, place) in enumerate(zip(scopes, tables, places, strict=True)):
        with refusals:
            if not scope:
                numbers.fail(f"table {number} has no variables, so it is not a distribution{remedy}", place)
            if scope[-1] in cpds:
                again = f"is a second distribution of variable {scope[-1]}"
                numbers.fail(f"table {number} {again}{remedy}", place)
            child, given = variables[scope[-1]], tuple([variables[parent] for parent in scope[:-1]])
            try:
                cpds[scope[-1]] = TableCPD.trusted(child, given, table_input.checked(child, given, table))
            except InvalidTable as error:
                numbers.fail(f"table {number}: {str(error).rstrip('.')}{remedy}", place)
    refusals.check()
    for number in range(len(variables)):
        if number not in cpds:
            message = f"variable {number} has no distribution: it is the last in no table{remedy}"
            raise FileFormatError(message, numbers.source.path)
    try:
        return BayesianNetwork._from_cpds("", [cpds[number] for number in range(len(variables))])
    except InvalidStructure as error:  # a cycle
        raise FileFormatError(f"{str(error).rstrip('.')}{remedy}", numbers.source.path) from None


@guarded
def read_evidence(file: File, model: Any) -> dict[str, State]:
    """Read what was observed, in the names and states of the model.

    The file has the number of findings and then for each the variable and its state, both by index; the
    older form has the number of samples before that, which must be one.

    Args:
        file: a path, or an open file.
        model: the model whose variables and states the indices refer to.

    Raises:
        FileFormatError: the file does not follow its format; with line and column.
        OSError: it cannot be opened.
        TooLarge: it is larger than the memory limit allows.

    >>> import io, pgm
    >>> net = pgm.load_network("asia")
    >>> pgm.read_evidence(io.StringIO("1 2 0"), net)
    {'smoke': 'yes'}
    """
    variables = list(variables_of(model).values())
    source = read_text(file)
    numbers = Numbers(source, without_comments(source), 0)
    if not numbers.size:
        raise source.error("expected the number of findings (0 for none), found an empty file", 0)
    count = numbers.count("the number of findings")
    if numbers.size != 1 + 2 * count and numbers.size > 1:
        if count > 1:
            message = f"{count} findings would be {2 * count} numbers, and {numbers.size - 1} follow"
            numbers.fail(f"{message}; a file of {count} samples would have to be split", 0)
        if count == 1:
            count = numbers.count("the number of findings")
    given: dict[str, State] = {}
    for _ in range(numbers.at_most_left(count, "findings")):
        at = numbers.pos
        number, code = numbers.count("a variable"), numbers.count("its state")
        if number >= len(variables):
            numbers.fail(f"there is no variable {number}; they are 0 to {len(variables) - 1}", at)
        variable = variables[number]
        if code >= variable.card:
            last = variable.card - 1
            numbers.fail(
                f"variable {number} ({variable.name!r}) has the states 0 to {last}, not {THIS}", at + 1
            )
        if variable.name in given:
            numbers.fail(f"variable {number} is observed twice", at)
        given[variable.name] = variable.states[code]
    if numbers.pos < numbers.size:
        numbers.fail(f"expected the end of the file, found {THIS}", numbers.pos)
    return given


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork, *, expand: bool) -> str:
    """Return a model as text, with variables and states by their index in the model.

    `expand` writes tables in place of other distributions and of sparse factors.
    """
    variables = variables_of(model)
    bayesian = isinstance(model, BayesianNetwork)
    tables = _conditional(model, expand) if isinstance(model, BayesianNetwork) else _factors(model, expand)
    scopes, numbers = [], []
    for scope, text in tables:
        scopes.append(" ".join(map(str, [len(scope), *scope])))
        numbers.append(text)
    head = [
        "BAYES" if bayesian else "MARKOV",
        str(len(variables)),
        " ".join(str(v.card) for v in variables.values()),
    ]
    return "\n".join([*head, str(len(scopes)), *scopes, "", *numbers, ""])


def _conditional(net: BayesianNetwork, expand: bool) -> Iterable[tuple[list[int], str]]:
    place = {name: number for number, name in enumerate(net.variables)}
    for name, values in tables(net, "UAI", expand):
        yield [*(place[parent] for parent in net.parents(name)), place[name]], _written(values)


def _factors(model: MarkovNetwork, expand: bool) -> Iterable[tuple[list[int], str]]:
    names = list(model.variables)
    cards = [variable.card for variable in model.variables.values()]
    budget = current().memory_limit // _BYTES_A_NUMBER
    for factor in each(model.factors(), "writing"):
        scopes = factor.scopes if isinstance(factor, Dense) else np.asarray([factor.scope])
        about = ", ".join(shown(names[position]) for position in scopes[:1].ravel().tolist())
        if isinstance(factor, Dense):
            text = _written(_linear(factor.values, factor.log, about))
        elif not expand:
            raise InvalidArgument(
                f"UAI holds tables only, and the factor of {about} is a {type(factor).__name__}; "
                "expand=True writes its table"
            )
        else:
            shape = [cards[position] for position in factor.scope.tolist()]
            table_input.check_cells(
                shape, f"the table of the factor of {about}", "UAI cannot hold it", budget
            )
            budget -= math.prod(shape)
            if isinstance(factor, Sparse):
                values = np.zeros(shape)
                values[tuple(factor.rows.T)] = _linear(factor.values, factor.log, about)
            else:
                values = factor.written_out(shape)
            text = _written(values)
        for scope in scopes.tolist():
            yield scope, text


def _linear(values: np.ndarray, log: bool, about: str) -> np.ndarray:
    if not log:
        return values
    with np.errstate(over="ignore", under="ignore"):
        linear: np.ndarray = np.exp(values)
    if not np.isfinite(linear).all() or ((linear == 0.0) & (values > -np.inf)).any():
        raise InvalidArgument(
            f"UAI holds no logarithms, and e to the power of some in the factor of {about} is too large "
            "or too small a number; add a constant to them, or divide them among factors"
        )
    return linear


def _written(values: np.ndarray) -> str:
    return f"{values.size}\n{' '.join(map(repr, values.ravel().tolist()))}"


def write_evidence(model: BayesianNetwork | MarkovNetwork, evidence: Mapping[str, Any]) -> str:
    """Return what was observed as the text of an .evid file."""
    place = {name: number for number, name in enumerate(variables_of(model))}
    codes = observed_codes(model, evidence)
    words = [str(word) for name, code in codes.items() for word in (place[name], code)]
    return " ".join([str(len(codes)), *words]) + "\n"


def observed_codes(model: object, evidence: Mapping[str, Any] | None) -> Mapping[str, int]:
    """Return the code of each observed state; uncertain evidence is an error."""
    observed = observe(variables_of(model), evidence)
    uncertain = next(iter([*observed.weights, *observed.soft]), None)
    if uncertain is not None or observed.log_weight:
        name = "one of the findings" if uncertain is None else shown(uncertain)
        raise InvalidEvidence(f"UAI holds states as evidence, and {name} is not a single state")
    return observed.hard


def variables_of(model: object) -> Mapping[str, Variable]:
    """Return the variables of a model, all of which must be discrete."""
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise InvalidArgument(f"UAI holds Bayesian and Markov networks, not {shown(model)}")
    check_states(model.variables, "UAI")
    return model.variables
