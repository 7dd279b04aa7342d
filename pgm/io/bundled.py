"""Networks and influence diagrams that come with pgm: of books, and published ones; each names its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pgm.calls import guarded
from pgm.distributions.parts import Part
from pgm.errors import InvalidArgument, listed, nearest, shown
from pgm.printing import html_table, text_table

from .json import model_of
from .json.parts import parse
from .text import Text

_WIDTH = 70  # of a source in print


@dataclass(frozen=True, slots=True)
class Bundled:
    """What is known about a network before it is loaded."""

    name: str
    nodes: int
    edges: int
    source: str
    kind: str = "network"  # or "influence diagram"


class BundledNetworks(Mapping[str, Bundled]):
    """The networks that come with pgm, by name; prints as a table."""

    __slots__ = ("_found",)

    def __init__(self, found: Mapping[str, Bundled]) -> None:
        self._found = dict(found)

    def __getitem__(self, name: str) -> Bundled:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return {name: {"name", "nodes", "edges", "source", "kind"}}."""
        return {name: asdict(entry) for name, entry in self.items()}

    def __repr__(self) -> str:
        return text_table(*self._table(_WIDTH))

    def _repr_html_(self) -> str:
        return html_table(*self._table(1000))

    def _table(self, width: int) -> tuple[list[str], list[list[str]]]:
        rows = []
        for entry in self.values():
            text = entry.source
            source = text if len(text) <= width else f"{text[: width - 4].rsplit(' ', 1)[0]} ..."
            rows.append([entry.name, entry.kind.split()[-1], str(entry.nodes), str(entry.edges), source])
        return ["name", "kind", "nodes", "edges", "source"], rows


@guarded
def list_networks() -> BundledNetworks:
    """Return the networks and diagrams that come with pgm, and where each is from; `load_network` loads one.

    >>> import pgm
    >>> networks = pgm.list_networks()
    >>> networks["asia"].nodes, networks["asia"].source[:30]
    (8, 'Lauritzen and Spiegelhalter, L')
    """
    found = {}
    for name in _names():
        value = _file(name).value
        diagram = value.get("influence-diagram")
        nodes = value["nodes"] if diagram is None else [*diagram["nodes"], *diagram["utilities"]]
        above = [node.get("decision", {}).get("observes", node.get("parents", ())) for node in nodes]
        kind = "network" if diagram is None else "influence diagram"
        found[name] = Bundled(name, len(nodes), sum(map(len, above)), value["about"], kind)
    return BundledNetworks(dict(sorted(found.items(), key=lambda item: (item[1].nodes, item[0]))))


@guarded
def load_network(name: str) -> Any:
    """Return a network or an influence diagram that comes with pgm; `pgm.list_networks()` shows them all.

    Args:
        name: one of `pgm.list_networks()`.

    Raises:
        InvalidArgument: no network of this name comes with pgm; it names the nearest.

    >>> import pgm
    >>> net = pgm.load_network("asia")
    >>> round(net.query("lung", {"smoke": "yes", "xray": "yes"})["yes"], 6)
    0.645991
    """
    if name not in _names():
        there = f"there are {listed(_names())}; pgm.list_networks() shows them"
        raise InvalidArgument(f"No network {shown(name)} comes with pgm; {there}.{nearest(name, _names())}")
    return model_of(_file(name))  # Any: the name determines whether it is a network


def bundled_instead(name: str) -> str:
    """The hint for a file that does not exist: the networks that come with pgm.

    >>> bundled_instead("asia")
    'A network of this name comes with pgm: pgm.load_network("asia").'
    """
    if name in _names():
        return f'A network of this name comes with pgm: pgm.load_network("{name}").'
    return f"Nor is it a network that comes with pgm: those are {listed(_names())}.{nearest(name, _names())}"


@cache
def _names() -> tuple[str, ...]:
    entries = (files("pgm") / "data").iterdir()
    return tuple(sorted(entry.name[:-5] for entry in entries if entry.name.endswith(".json")))


def _file(name: str) -> Part:
    path = files("pgm") / "data" / f"{name}.json"
    return parse(Text(str(path), path.read_text(encoding="utf-8")))
