"""Hugin NET (.net), as Hugin, GeNIe, aGrUM and pgmpy write it.

    net { name = "name"; }
    node a_b { label = "a b"; pgm_name = "a b"; states = ("x" "y"); }
    potential ( c | a_b ) { data = ((0.9 0.1)(0.5 0.5)); }          the state of the child changes fastest
    continuous node z { }
    decision d { states = ("no" "yes"); }                          a potential (d | a_b) { } says what is seen
    utility u { }
    potential ( u | d a_b ) { data = ((0 10)(-5 8)); }
    potential ( z | a_b w ) { data = (normal ( 1.0, 0.25 ) normal ( 0.5 + 2.0 * w, 1.0 )); }   mean, variance

Lists of numbers may be nested by parent, in part, or not at all; `%`, `//` and `/*` begin comments. Without
`data` the distribution is Hugin's default, uniform or normal(0, 1). Attributes that say how a network was
drawn or learned are skipped; functions, models and instances are errors.

Nodes are called by identifiers as in C. Any other name is written as the attribute `pgm_name`, and as
the label, which Hugin shows, of a node with an identifier derived from it. When read, the name is `pgm_name`,
else the identifier; a label is a caption, which may be absent or repeated. States are quoted
text with escapes as in C, and bins are nodes of the subtype interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from pgm.cpds import CPD, DefaultCPD, LinearGaussian
from pgm.errors import InvalidArgument, InvalidTable, InvalidVariable, shown
from pgm.models import BayesianNetwork, MarkovNetwork
from pgm.models.decision import InfluenceDiagram
from pgm.models.decision.utilities import Utility
from pgm.variables import REAL, Bins, Variable

from .diagrams import COMBINE, MEMORY, to_write, utility_table
from .identifiers import identifiers, stands_for
from .reader import Block, Reader
from .scanner import Syntax, quoted
from .text import NUMBER, Text
from .writing import bayesian, states_as_text, tables

_KEYWORDS = frozenset(
    "net class node discrete continuous decision utility function instance potential states label data "
    "normal position inputs outputs name subtype boolean labelled number interval state_values".split()
)
_UNHELD = ("function", "instance")
_UNITS = {"infinity": math.inf, "+infinity": math.inf, "-infinity": -math.inf}
_NUMBERS_A_LINE = 100  # memory of one of many linear Gaussians besides its weights, in numbers
_NORMAL = re.compile(r"normal\s*\(([^()]*)\)")
_GROUP = re.compile(r"[()]|[^()]+")
_TERM = re.compile(
    rf"\s*+([+-]?)\s*+(?:({NUMBER.pattern})(?:\s*+\*\s*+([^\s,+*-]++))?|([^\s,+*-]++)(?:\s*+\*\s*+({NUMBER.pattern}))?)\s*+"
)


def read(source: Text) -> BayesianNetwork | InfluenceDiagram:
    """Read a network or an influence diagram; states are text, or the bins of an interval node."""
    return _Reader(source).network()


class _Reader(Reader):
    syntax = Syntax(";:=(){}[]|", comments=("%", "//", "/*"), escapes=True)

    def network(self) -> BayesianNetwork | InfluenceDiagram:
        title, wrapped, classes = "", False, 0
        choice = "'net', 'node', 'potential' or the end of the file"
        while (before := self.first(self.pos)) < len(self.text):
            if wrapped and self.peek() == "}":
                self.mark("}", "")
                wrapped = False
                continue
            keyword = self.word(choice)
            if keyword == "net":
                title = self.header() or title
            elif keyword == "potential":
                self.potential(before)
            elif keyword == "class" and not classes:
                title = self.name("the name of the class")
                self.mark("{", "after the name of the class")
                wrapped, classes = True, 1
            elif wrapped and self.peek() == "=":
                self.skip(keyword, "in the class", before)
            else:
                self.any_node(keyword, choice, before)
        if wrapped:
            self.fail("expected '}' at the end of the class, found the end of the file", len(self.text))
        self.check_blocks("potential")
        return self.built(
            title, lambda name: self.cpd(self.blocks[name]), lambda name: self.utility(self.blocks[name])
        )

    def header(self) -> str:
        """Read the attributes of the network and return its name."""
        title = ""
        for keyword, at in self.assignments("in 'net'"):
            if keyword in (MEMORY, COMBINE):
                self.properties[keyword] = self.name(f"a value of {keyword!r}")
            start = self.pos
            self.skip(keyword, "in 'net'", at)
            if keyword == "name":  # aGrUM writes it without quotes
                title = " ".join(self.words(self.text[start : self.pos - 1], start))
        return title

    def assignments(self, where: str) -> Iterator[tuple[str, int]]:
        """Yield each attribute of a block in braces, up to its value."""
        self.mark("{", where)
        while self.peek() != "}":
            at = self.first(self.pos)
            keyword = self.word(f"an attribute or '}}' {where}")
            self.mark("=", f"after {self.as_written(keyword)} {where}")
            yield keyword, at
        self.mark("}", where)

    def skip(self, keyword: str, where: str, at: int) -> None:
        """Skip the value of an attribute."""
        self.skip_value(f"the attribute {self.as_written(keyword)} {where} has no ';' at its end", at)

    # --- nodes ---

    def any_node(self, keyword: str, choice: str, at: int) -> None:
        kind = "discrete"
        if keyword in ("discrete", "continuous"):
            kind, keyword = keyword, self.word("'node'")
        if keyword in _UNHELD:
            name = shown(self.name("the name of the node"))
            self.fail(f"{name} is of the kind {keyword}, which a Bayesian network does not have", at)
        if keyword in ("decision", "utility") and kind == "discrete":
            name = self.name(f"the name of the {keyword}")
            self.declare(name, at)
            if keyword == "decision":
                self.decisions.add(name)
                self.node(name, False, at)
            else:
                self.utility_node(name, at)
            return
        if keyword != "node":
            self.pos = at
            self.expected(choice)
        name = self.name("the name of a node")
        self.declare(name, at)
        self.node(name, kind == "continuous", at)

    def node(self, name: str, continuous: bool, at: int) -> None:
        where = f"in the node {shown(name)}"
        lists: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        for keyword, place in self.assignments(where):
            if keyword in lists or keyword in texts:
                self.fail(f"a second {keyword!r} {where}", place)
            if keyword in ("states", "state_values"):
                self.mark("(", f"after {keyword!r} {where}")
                start = self.pos
                lists[keyword] = self.words(self.until(")", f"after the {keyword} {where}"), start)
                self.mark(";", f"after the {keyword} {where}")
            elif keyword in ("subtype", "pgm_name"):
                texts[keyword] = self.name(f"a value of {keyword!r} {where}")
                self.mark(";", f"after the {keyword} {where}")
            else:
                self.skip(keyword, where, place)
        true_name = texts.get("pgm_name", "")
        if not stands_for(name, true_name, "n", _KEYWORDS):  # another program has renamed the node
            true_name = ""
        if continuous:
            self.add(name, REAL, at, true_name)
            return
        states, values = lists.get("states", []), lists.get("state_values", [])
        labelled = any(map(str.strip, states))
        if texts.get("subtype") == "interval" and values:
            bins = self.bins(values, where, at)
            if not labelled or states == [str(interval) for interval in bins.states]:
                self.add(name, bins, at, true_name)
                return
        elif values and not labelled:  # a numeric node need not have labels
            states = values
        if not states:
            self.fail(f"expected 'states = ( ... );' {where}, found none", at)
        self.add(name, states, at, true_name)

    def utility_node(self, name: str, at: int) -> None:
        where = f"in the utility {shown(name)}"
        true_name = ""
        for keyword, place in self.assignments(where):
            if keyword == "pgm_name":
                true_name = self.name(f"a value of {keyword!r} {where}")
                self.mark(";", f"after the {keyword} {where}")
            else:
                self.skip(keyword, where, place)
        self.add_utility(name, at, true_name if stands_for(name, true_name, "n", _KEYWORDS) else "")

    def utility(self, block: Block) -> Utility:
        """Read what each configuration of the parents is worth; without numbers it is 0."""
        name, given = self.utilities[block.child].name, self.given(block)
        if continuous := [v.name for v in given if v.continuous]:
            self.fail(f"{shown(name)} depends on {shown(continuous[0])}, which is continuous", block.at)
        shape = [v.card for v in given]
        self.reserve(shape, name, block.at)
        if block.start < 0:
            return utility_table(given, np.zeros(shape))
        text = self.text[block.start : block.end]
        words = _without_parentheses(text).split()
        if len(words) != math.prod(shape):
            self.check_numbers(words, name, block.start)
            message = f"expected {math.prod(shape):,} numbers, found {len(words):,}"
            self.fail(f"{shown(name)}: {message}", block.start)
        values = self.numbers(words, _without_parentheses(text), name, block.start)
        self.check_groups(name, text, block.start, shape, 1)
        return utility_table(
            given, self.worth(name, values, lambda number: self.place(text, block.start, number))
        )

    def bins(self, values: list[str], where: str, at: int) -> Bins:
        for word in values:
            if word not in _UNITS and not NUMBER.fullmatch(word):
                self.fail(f"expected a number among the state_values {where}, found {shown(word)}", at)
        try:
            return Bins([_UNITS[word] if word in _UNITS else float(word) for word in values])
        except InvalidVariable as error:
            self.fail(f"the state_values {where}: {error}", at)

    # --- potentials ---

    def potential(self, at: int) -> None:
        child, parents = self.head(at, "potential")
        where = f"in the potential of {shown(child)}"
        start, end, model = -1, -1, False
        for keyword, place in self.assignments(where):
            begin = self.pos
            self.skip(keyword, where, place)
            model = model or keyword.startswith("model_")
            if keyword == "data":
                if start >= 0:
                    self.fail(f"a second 'data' {where}", place)
                start, end = begin, self.pos - 1
        if model and start < 0:
            self.fail(
                f"{shown(child)} has a model (model_nodes) and no 'data': save the file with tables", at
            )
        self.blocks[child] = Block(at, child, parents, start, end)

    def cpd(self, block: Block) -> CPD:
        child, *parents = [self.known(name, block.at) for name in (block.child, *block.parents)]
        given = tuple(parents)
        if child.continuous:
            return self.normals(block, child, given)
        for parent in given:
            if parent.continuous:
                self.fail(
                    f"{shown(child.name)} is discrete, and its parent {shown(parent.name)} is not", block.at
                )
        shape = [variable.card for variable in (*given, child)]
        uniform = np.full((1, child.card), 1.0 / child.card)
        if block.start < 0 and self.is_compact(shape, block):
            return DefaultCPD.trusted(child, given, np.empty((0, len(given)), dtype=np.int32), uniform)
        self.reserve(shape, child.name, block.at)
        if block.start < 0:
            return self.table(child, given, np.full(shape, uniform), lambda row: block.at)
        text = self.text[block.start : block.end]
        words = _without_parentheses(text).split()
        if len(words) != math.prod(shape):
            self.check_numbers(words, child.name, block.start)
            message = f"expected {math.prod(shape):,} numbers, found {len(words):,}"
            self.fail(f"{shown(child.name)}: {message}", block.start)
        values = self.numbers(words, _without_parentheses(text), child.name, block.start)
        self.check_groups(child.name, text, block.start, shape[:-1], child.card)
        return self.table(child, given, values, lambda row: self.place(text, block.start, row * child.card))

    def place(self, text: str, start: int, number: int) -> int:
        """Return the text position of the number at this index in a list."""
        matches = re.finditer(r"[^\s,()]+", text)
        return start + next(match.start() for place, match in enumerate(matches) if place == number)

    def check_groups(self, name: str, text: str, start: int, cards: list[int], each: int) -> None:
        """Raise if parentheses group numbers that do not belong together.

        A row belongs together, as does the block of one state of the first parents; parentheses are optional.
        """
        sizes = [each]
        for card in reversed(cards):
            sizes.append(sizes[-1] * card)
        opened: list[int] = []
        count = 0
        for token in _GROUP.finditer(text):
            if token[0] == "(":
                opened.append(count)
            elif token[0] != ")":
                count += len(token[0].replace(",", " ").split())
            elif not opened:
                self.fail(f"{shown(name)}: this ')' has no '('", start + token.start())
            else:
                size = count - opened.pop()
                if size not in sizes or count % size:
                    expected = " or ".join(map(str, dict.fromkeys(sizes)))
                    message = f"the parentheses that end here hold {size}, and {expected} belong together"
                    self.fail(f"{shown(name)}: {message}", start + token.start())
        if opened:
            self.fail(f"{shown(name)}: a '(' in this list is never closed", start)

    def normals(self, block: Block, child: Variable, given: tuple[Variable, ...]) -> LinearGaussian:
        """Read a normal distribution for each configuration of the discrete parents."""
        switches = [variable for variable in given if not variable.continuous]
        causes = {
            name: variable.name
            for name, variable in zip(block.parents, given, strict=True)
            if variable.continuous
        }
        cards = [variable.card for variable in switches]
        self.reserve([*cards, _NUMBERS_A_LINE + len(causes)], child.name, block.at)
        text = self.text[block.start : block.end] if block.start >= 0 else ""
        found = list(_NORMAL.finditer(text))
        rest = _NORMAL.sub(lambda match: "0" * len(match[0]), text)
        for word in re.finditer(r"[^\s,()]+", rest):
            if word[0].strip("0"):
                message = f"expected 'normal ( mean, variance )', found {self.as_written(word[0])}"
                self.fail(f"{shown(child.name)}: {message}", block.start + word.start())
        if block.start < 0:
            made = [LinearGaussian(dict.fromkeys(causes.values(), 0.0))] * math.prod(cards)
        else:
            if len(found) != math.prod(cards):
                message = f"expected {math.prod(cards):,} normal distributions, found {len(found):,}"
                self.fail(f"{shown(child.name)}: {message}", block.start)
            self.check_groups(child.name, rest, block.start, cards, 1)
            made = [self.normal(child.name, match, block.start, causes) for match in found]
        if not switches:
            return made[0].bind(child.name, None, given)
        keys = product(*[variable.states for variable in switches])
        rows = {key if len(switches) > 1 else key[0]: row for key, row in zip(keys, made, strict=True)}
        selected = LinearGaussian.select(child.name, rows, [variable.name for variable in switches])
        return selected.bind(child.name, None, given)

    def normal(self, name: str, match: re.Match[str], start: int, causes: dict[str, str]) -> LinearGaussian:
        """Read ( mean, variance ), the mean a sum of constants and of constants times parents."""
        at = start + match.start(1)
        mean, comma, variance = match[1].partition(",")
        variance = variance.strip()  # of blanks that `float` does not accept
        if not comma or not NUMBER.fullmatch(variance) or float(variance) < 0:
            self.fail(f"{shown(name)}: expected ( mean, variance ), the variance a number from 0", at)
        bias, weights, place = 0.0, dict.fromkeys(causes, 0.0), 0
        seen: set[str] = set()
        while place < len(mean) or not place:
            term = _TERM.match(mean, place)
            if term is None or (place and not term[1]):
                self.fail(f"{shown(name)}: expected a sum of numbers and number * parent", at + place)
            value = float(term[2] or term[5] or 1.0) * (-1.0 if term[1] == "-" else 1.0)
            cause = term[3] or term[4] or ""
            if cause and cause not in causes:
                message = f"{self.as_written(cause)} is not a continuous parent"
                self.fail(f"{shown(name)}: {message}", at + place)
            if cause in seen:
                self.fail(f"{shown(name)}: a second term of its kind in this sum", at + place)
            seen.add(cause)
            if cause:
                weights[cause] = value
            else:
                bias = value
            place = term.end()
        try:
            return LinearGaussian(
                {causes[cause]: weight for cause, weight in weights.items()},
                bias=bias,
                sd=math.sqrt(float(variance)),
            )
        except InvalidTable as error:
            self.fail(f"{shown(name)}: {error}", at)


def _without_parentheses(text: str) -> str:
    return text.replace("(", " ").replace(")", " ").replace(",", " ")


# --- writing ------------------------------------------------------------------------------------------------


def write(model: BayesianNetwork | MarkovNetwork | InfluenceDiagram, *, expand: bool) -> str:
    """Return a network or an influence diagram as text.

    Args:
        model: what to write.
        expand: write tables for what is neither table nor Gaussian, and for utilities of utilities.
    """
    whole = to_write(model, "Hugin NET", expand=expand) if isinstance(model, InfluenceDiagram) else None
    net = bayesian(model if whole is None else whole.network, "Hugin NET", continuous=True)
    decisions = () if whole is None else whole.diagram.decisions
    utilities = {} if whole is None else whole.utilities
    names = identifiers([*net.variables, *utilities], "n", _KEYWORDS)
    called = net.name if whole is None else whole.diagram.name
    title = f"  name = {quoted(called, 'the name of the network')};\n" if called else ""
    for key, value in ({} if whole is None else whole.properties).items():
        title += f'  {key} = "{value}";\n'
    parts = [f"net\n{{\n{title}}}\n"]
    for name, variable in net.variables.items():
        parts.append(_node(variable, names[name], "decision" if name in decisions else ""))
    parts += [f"utility {names[name]}\n{{\n{_caption(name, names[name])}}}\n" for name in utilities]
    for name in decisions:
        assert whole is not None
        parts.append(f"potential ({_head(names, name, whole.diagram.parents(name))})\n{{\n}}\n")
    for name, utility in utilities.items():
        assert utility.values is not None
        shape = utility.values.shape or (1,)
        rows = utility.values.reshape(-1, shape[-1]).tolist()
        data = _nested([f"({' '.join(map(repr, row))})" for row in rows], shape[:-1])
        parts.append(f"potential ({_head(names, name, utility.parents)})\n{{\n  data = {data};\n}}\n")
    cpds = [net.cpd(name) for name in net.variables if name not in decisions]
    left_out = {cpd.child.name for cpd in cpds if cpd.continuous or _is_uniform(cpd)}
    written_out = tables(net, "Hugin NET", expand, but={*left_out, *decisions})
    for cpd in cpds:
        if isinstance(cpd, LinearGaussian):
            cards = [net.variables[parent].card for parent in cpd.parents[: cpd.weights.ndim - 1]]
            data = _nested(_normals(names, cpd), cards)
        elif cpd.continuous:
            raise InvalidArgument(
                f"The distribution of {shown(cpd.child.name)} is a {type(cpd).__name__}, and Hugin's "
                "format holds "
                "linear Gaussians only."
            )
        elif cpd.child.name in left_out:
            data = ""
        else:
            _, values = next(written_out)
            rows = values.reshape(-1, values.shape[-1]).tolist()
            data = _nested([f"({' '.join(map(repr, row))})" for row in rows], values.shape[:-1])
        body = f"  data = {data};\n" if data else ""
        parts.append(f"potential ({_head(names, cpd.child.name, cpd.parents)})\n{{\n{body}}}\n")
    return "\n".join(parts)


def _head(names: dict[str, str], child: str, parents: Sequence[str]) -> str:
    given = "".join([f" {names[parent]}" for parent in parents])
    return f"{names[child]}{' |' if given else ''}{given}"


def _is_uniform(cpd: CPD) -> bool:
    """Whether it is Hugin's default for a potential without data, which is then not written out."""
    listing = cpd.listed_rows()
    return listing is not None and not len(listing[0]) and bool((listing[2] == 1.0 / cpd.child.card).all())


def _caption(true_name: str, name: str) -> str:
    """The lines that keep a name which is not an identifier."""
    caption = quoted(true_name, "the name")
    return "" if name == true_name else f"  label = {caption};\n  pgm_name = {caption};\n"


def _node(variable: Variable, name: str, kind: str = "") -> str:
    lines = [_caption(variable.name, name)]
    if not variable.continuous:
        # Bins are not lost as text, because their edges are written too.
        texts = states_as_text(variable, "Hugin NET", variable.bins is not None)
        what = f"a state of {shown(variable.name)}"
        lines.append(f"  states = ({' '.join([quoted(text, what) for text in texts])});\n")
    if variable.bins is not None:
        edges = " ".join(map(repr, variable.bins.edges)).replace("inf", "infinity")
        lines += ["  subtype = interval;\n", f"  state_values = ({edges});\n"]
    kind = kind or ("continuous node" if variable.continuous else "node")
    return f"{kind} {name}\n{{\n{''.join(lines)}}}\n"


def _nested(rows: list[str], cards: Sequence[int]) -> str:
    """Put rows into parentheses, a pair for each state of each axis before the last."""
    sizes = [math.prod(cards[axis:]) for axis in range(len(cards))]
    lines = []
    for number, row in enumerate(rows):
        opens = sum([number % size == 0 for size in sizes])
        closes = sum([(number + 1) % size == 0 for size in sizes])
        lines.append(f"{'(' * opens}{row}{')' * closes}")
    return "\n          ".join(lines)


def _normals(names: dict[str, str], cpd: LinearGaussian) -> list[str]:
    """Return the distribution for each configuration of the discrete parents."""
    causes = [names[parent] for parent in cpd.parents[len(cpd.parents) - cpd.weights.shape[-1] :]]
    count = np.size(cpd.bias)
    rows = zip(
        np.reshape(cpd.weights, (count, -1)).tolist(),
        np.ravel(cpd.bias).tolist(),
        np.ravel(cpd.sd).tolist(),
        strict=True,
    )
    lines = []
    for weights, bias, sd in rows:
        terms = [
            f" {'-' if math.copysign(1.0, weight) < 0 else '+'} {abs(weight)!r} * {cause}"
            for weight, cause in zip(weights, causes, strict=True)
        ]
        lines.append(
            f"normal ( {bias!r}{''.join(terms)}, {sd * sd!r} )"
        )  # sqrt(sd * sd) is sd to the last bit
    return lines
