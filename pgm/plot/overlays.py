"""Overlays on the picture of a network: trails, a second structure, mutual information."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from matplotlib.colors import LinearSegmentedColormap, to_hex

from pgm.errors import InvalidArgument, listed, shown
from pgm.evidence import observe
from pgm.graphs.layout import Link
from pgm.graphs.trails import trails
from pgm.graphs.walks import Arrows
from pgm.models import BayesianNetwork, MarkovNetwork

from .canvas import LINE
from .drawing import Box, Sketch, Stroke

Model: TypeAlias = BayesianNetwork | MarkovNetwork

# Okabe & Ito's colours, safe for the colour-blind; no two kinds of links share a line style either.
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#AA4499"
_FAINT = Stroke("#c3cad3", 0.8, head="lower")
_ACTIVE = Stroke(BLUE, 2.2, head="lower")
_BLOCKED = Stroke(VERMILLION, 1.5, (0, (4, 2.5)), "lower")
COMMON = Stroke(LINE, 1.0, head="lower")
EXTRA = Stroke(BLUE, 2.2, head="lower")
MISSING = Stroke(VERMILLION, 1.5, (0, (1.2, 1.8)), "lower")
REVERSED = Stroke(PURPLE, 1.6, (0, (6, 2, 1.2, 2)), "lower")
_WIDEST = 6.0
_NO_LINK = 1e-12  # nats
_ENTROPY = LinearSegmentedColormap.from_list("entropy", ["#ffffff", "#cfe3f1", "#6fb3dc"])


def paths(net: BayesianNetwork, sketch: Sketch, ends: Any, given: Any) -> tuple[Sketch, str]:
    """Mark the active and the blocked trails between two nodes; the text says what that implies."""
    if isinstance(ends, str) or not hasattr(ends, "__len__") or len(ends) != 2 or ends[0] == ends[1]:
        raise InvalidArgument(f'paths= takes two nodes, as ("a", "b"), not {shown(ends)}.')
    a, b = ends
    active, blocked = trails(
        Arrows.of({node: net.parents(node) for node in net.nodes}), a, b, () if given is None else given
    )
    known = [given] if isinstance(given, str) else list(given or ())
    for end in ends:
        if end in known:
            raise InvalidArgument(
                f"paths= leads to {shown(end)}, which is given: observed variables carry no information."
            )
    boxes = dict(sketch.boxes)
    for name in known:
        boxes[name] = replace(boxes[name], seen=True)
    for name in ends:
        boxes[name] = replace(boxes[name], face="#cfe6f5")
    strokes: dict[Link, Stroke] = {link: _FAINT for link in sketch.links}
    strokes |= {link: _BLOCKED for link in blocked} | {link: _ACTIVE for link in active}
    key: list[tuple[str, Stroke | Box]] = []
    key += [("active path", _ACTIVE)] * bool(active) + [("blocked path", _BLOCKED)] * bool(blocked)
    key += [("given", Box((), seen=True))] * bool(known)
    told = (
        f" given {', '.join(known)}" if 0 < len(known) <= 3 else f" given {len(known)} others" * bool(known)
    )
    verdict = "may depend on" if active else "is independent of"
    return replace(sketch, boxes=boxes, strokes=strokes, key=key), f"{a} {verdict} {b}{told}"


def compare(net: BayesianNetwork, sketch: Sketch, other: object) -> Sketch:
    """Mark the arrows that another structure shares, lacks or reverses; and add its own."""
    if not isinstance(other, BayesianNetwork):
        raise InvalidArgument(f"compare= takes another BayesianNetwork, not {shown(other)}.")
    apart = [name for name in net.nodes if name not in other] + [n for n in other.nodes if n not in net]
    if apart:
        raise InvalidArgument(f"compare= takes a network of the same nodes; one lacks {listed(apart)}.")
    rank = {node: i for i, node in enumerate(net.topological_order())}
    ours, theirs = set(net.edges), set(other.edges)
    strokes: dict[Link, Stroke] = {}
    count = dict.fromkeys(("common", "extra", "reversed", "missing"), 0)
    for tail, head in net.edges:
        what = "common" if (tail, head) in theirs else "reversed" if (head, tail) in theirs else "extra"
        strokes[tail, head] = {"common": COMMON, "reversed": REVERSED, "extra": EXTRA}[what]
        count[what] += 1
    for tail, head in other.edges:
        if (tail, head) not in ours and (head, tail) not in ours:
            count["missing"] += 1
            # An arrow against this network's order points upwards: its head is at the upper end.
            if rank[tail] < rank[head]:
                strokes[tail, head] = MISSING
            else:
                strokes[head, tail] = replace(MISSING, head="upper")
    looks = {"common": COMMON, "extra": EXTRA, "reversed": REVERSED, "missing": MISSING}
    named = f" in {other.name!r}" if other.name else " in the other"
    said = {
        "common": "in both",
        "extra": f"extra: not{named}",
        "reversed": f"reversed{named}",
        "missing": f"missing: only{named}",
    }
    key = [(f"{said[what]} ({n})", looks[what]) for what, n in count.items() if n]
    return replace(sketch, links=list(strokes), strokes=strokes, key=key)


def information(
    net: Model, sketch: Sketch, given: Mapping[str, Any] | None, engine: Any
) -> tuple[Sketch, bool]:
    """Draw links as wide as their mutual information and colour boxes by entropy; say if exact."""
    continuous = [str(name) for name in sketch.boxes if net.variables[str(name)].continuous]
    if continuous:
        raise InvalidArgument(
            f"information=True is for discrete variables; {shown(continuous[0])} is continuous."
        )
    observed = observe(net.variables, given or {})
    answers = net.marginals(given, engine=engine)
    exact = answers.exact
    entropy: dict[Hashable, float] = {
        name: 0.0 if name in observed.hard else float(answers[str(name)].entropy()) for name in sketch.boxes
    }
    shared: dict[Link, float] = {}
    for a, b in sketch.links:
        shared[a, b] = 0.0
        if a not in observed.hard and b not in observed.hard:
            joint = net.query([str(a), str(b)], given, engine=engine)
            exact = exact and joint.exact
            shared[a, b] = joint.mutual_information(str(a), str(b))
    most, widest = max(entropy.values(), default=0.0), max(shared.values(), default=0.0)
    boxes = {
        name: replace(
            box,
            note=f"{entropy[name]:.3g} nats",
            seen=name in observed.given,
            face="" if name in observed.hard else to_hex(_ENTROPY(entropy[name] / most if most else 0.0)),
        )
        for name, box in sketch.boxes.items()
    }
    head = sketch.usual.head
    strokes = {
        link: Stroke(BLUE, 0.7 + (_WIDEST - 0.7) * value / widest, "solid", head)
        if value > _NO_LINK
        else Stroke(LINE, 0.9, (0, (2, 3)), head)
        for link, value in shared.items()
    }
    key: list[tuple[str, Stroke | Box]] = [
        (f"entropy {most:.3g} nats", Box((), face=to_hex(_ENTROPY(1.0)))),
        ("entropy 0", Box((), face=to_hex(_ENTROPY(0.0)))),
    ]
    if widest > _NO_LINK:
        key.append((f"mutual information {widest:.3g} nats", Stroke(BLUE, _WIDEST)))
    if any(value <= _NO_LINK for value in shared.values()):
        key.append(("mutual information 0", Stroke(LINE, 0.9, (0, (2, 3)))))
    return replace(sketch, boxes=boxes, strokes=strokes, key=key), exact
