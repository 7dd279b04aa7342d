"""Names that end in indices, such as pixel[3,4], as positions in an array."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import islice

import numpy as np

from pgm.errors import InvalidArgument, listed, nearest
from pgm.results.report import Report

_INDICES = re.compile(r"\d{1,9}(?:,\d{1,9})*", re.ASCII).fullmatch


def indexed(
    names: Iterable[str], prefix: str, report: Report
) -> tuple[list[int], tuple[np.ndarray, ...], tuple[int, ...]]:
    """The positions of names like "prefix[0,0]", their indices axis by axis, and the shape they fill."""
    begin = f"{prefix}["
    matches = [
        (i, name[len(begin) : -1])
        for i, name in enumerate(names)
        if name.startswith(begin) and name[-1] == "]"
    ]
    text = ",".join([indices for _, indices in matches])
    if not _INDICES(text):  # some other name has the same form
        matches = [(i, indices) for i, indices in matches if _INDICES(indices)]
        text = ",".join([indices for _, indices in matches])
    if not matches:
        prefixes = dict.fromkeys(name.partition("[")[0] for name in islice(names, 10_000) if "[" in name)
        raise InvalidArgument(
            f"No variable is named like '{prefix}[0]' or '{prefix}[0,0]'.{nearest(prefix, prefixes)}"
        )
    if len({indices.count(",") for _, indices in matches}) > 1:
        raise InvalidArgument(f"The variables '{prefix}[...]' have different numbers of indices.")
    index = np.fromstring(text, dtype=np.int64, sep=",").reshape(len(matches), -1)
    shape = tuple(int(size) for size in index.max(axis=0) + 1)
    right = math.prod(shape) == len(matches)
    if right:
        seen = np.zeros(shape, bool)
        seen[tuple(index.T)] = True
    if not seen.all() if right else len(np.unique(index, axis=0)) < len(matches):
        raise InvalidArgument(f"Several of the variables '{prefix}[...]' have the same indices.")
    if not right:
        given = [name for name in report.given or () if name.startswith(begin)]
        was = "was" if len(given) == 1 else "were"
        why = f" {listed(given)} {was} given: what is known is not part of it."
        raise InvalidArgument(
            f"The variables '{prefix}[...]' are {len(matches):,} of the {math.prod(shape):,} "
            f"that an array of shape {shape} needs.{why if given else ''}"
        )
    return [i for i, _ in matches], tuple(index.T), shape
