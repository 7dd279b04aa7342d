"""The flat arrays of the loops over strong junction trees, beside those of the densities themselves."""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Ints, Ints32


class StrongTree(NamedTuple):
    """Cliques that eliminate continuous variables, children first; discrete ones come after all of these."""

    parent: Ints  # [C] -1 for a root: it leaves only a table over discrete variables
    own: Ints  # [C] how many variables it eliminates
    column_at: Ints  # [C + 1]
    columns: Ints32  # continuous variables: those it eliminates, in this order, then the others
    axis_at: Ints  # [C + 1]
    axes: Ints32  # its discrete variables, by position
    density_at: Ints  # [C + 1]
    densities: Ints32  # variables whose densities are multiplied in here
    child_at: Ints  # [C + 1]
    children: Ints32
    log_at: Ints  # [C + 1] where its configurations of discrete states begin
    row_at: Ints  # [C + 1] where the rows of its eliminated variables begin
    kind_at: Ints  # [C + 1]
    sent_at: Ints  # [C + 1] where the rows of its message begin
    sent_kind_at: Ints  # [C + 1]
    mean_at: Ints  # [C + 1]
    cov_at: Ints  # [C + 1]
