"""A file format: copy, rename, fill in. `->` says what else belongs to it.

-> pgm/io/words.py, and what names of its files end in under FORMATS: pgm/io/__init__.py
-> tests/io/formats.py: a network of one node under ROOT, what it cannot hold under MAY_REFUSE, two files under MORE_SEEDS
-> tests/io/test_formats.py: a file with two errors under TWO_WRONG; the tests there find the format in the registry
   and try round trips of any names and thousands of broken files
-> docs/how-to/files.md: its row in the table; CHANGELOG.md: a line

A line of this one is `network NAME`, `states NAME STATE ...` or `table CHILD PARENT ... = P P ...`, in which the state
of the child changes fastest. Names and states are words: what has white space cannot be held, and `write` says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from pgm.cpds.table import TableCPD
from pgm.cpds.table_input import check_cells, checked
from pgm.errors import FileFormatError, InvalidArgument, PGMError, nearest, shown
from pgm.io.refusals import Refusals
from pgm.io.text import NUMBER, Text
from pgm.io.writing import bayesian, states_as_text, tables
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.runtime.progress import each
from pgm.variables import Variable

_LINE = re.compile(r"[^\n]+")
_BLANK = " \t\r\n\f\v"


def read(source: Text) -> BayesianNetwork:
    """Read a network; whatever is wrong is a FileFormatError that names the line."""
    title = ""
    variables: dict[str, Variable] = {}
    cpds: dict[str, TableCPD] = {}
    refusals = Refusals()  # lines do not depend on each other: up to ten errors are told at once
    for line in each(list(_LINE.finditer(source.content)), "reading lines"):
        with refusals:
            keyword, *words = [word for word in re.split(f"[{_BLANK}]+", line[0]) if word] or [""]
            try:
                if keyword == "network" and len(words) == 1:
                    title = words[0]
                elif keyword == "states" and len(words) > 1 and words[0] not in variables:
                    variables[words[0]] = Variable(words[0], words[1:])
                elif keyword == "table" and "=" in words[1:] and words[0] not in cpds:
                    cpds[words[0]] = _table(words, variables)
                elif keyword:
                    raise InvalidArgument(
                        f"expected one 'states' or 'table' of a name, found {shown(line[0])}"
                    )
            except PGMError as error:  # the rooms below do not know where in the file they are
                raise source.error(str(error), line.start()) from None
    refusals.check()  # a table that is wrong is not missing besides
    for name in variables:
        if name not in cpds:
            with refusals:
                raise source.error(f"there is no table of {shown(name)}", len(source.content))
    refusals.check()
    try:
        return BayesianNetwork._from_cpds(title, [cpds[name] for name in variables])
    except PGMError as error:  # a cycle
        raise FileFormatError(str(error), source.path) from None


def _table(words: Sequence[str], variables: dict[str, Variable]) -> TableCPD:
    middle = words.index("=", 1)
    for name in words[:middle]:
        if name not in variables:
            raise InvalidArgument(f"no states were given for {shown(name)}{nearest(name, variables)}")
    child, *given = [variables[name] for name in words[:middle]]
    shape = [*(v.card for v in given), child.card]
    check_cells(shape, f"{shown(child.name)}: its table", "")
    wrong = next((word for word in words[middle + 1 :] if not NUMBER.fullmatch(word)), None)
    if wrong is not None:
        raise InvalidArgument(f"{shown(wrong)} is not a number")  # `shown` cuts what is long
    values = np.array(words[middle + 1 :], dtype=np.float64)
    if values.size != math.prod(shape):
        raise InvalidArgument(
            f"{shown(child.name)} has {math.prod(shape):,} probabilities, not {values.size:,}"
        )
    return TableCPD.trusted(child, tuple(given), checked(child, given, values.reshape(shape)))


def write(model: BayesianNetwork | MarkovNetwork, *, expand: bool) -> str:
    """Return a network as text; what the format cannot hold is refused, never left out."""
    net = bayesian(model, "words")
    lines = ["network " + _word(net.name)] if net.name else []
    for name, variable in net.variables.items():
        states = states_as_text(variable, "words", expand)
        lines.append(" ".join(["states", *map(_word, [name, *states])]))
    for name, values in tables(net, "words", expand):
        numbers = map(repr, values.ravel().tolist())
        lines.append(" ".join(["table", name, *net.parents(name), "=", *numbers]))
    return "\n".join([*lines, ""])


def _word(text: str) -> str:
    if not text or text == "=" or set(text) & set(_BLANK):
        raise InvalidArgument(f"words holds names and states that are one word, not {shown(text)}.")
    return text
