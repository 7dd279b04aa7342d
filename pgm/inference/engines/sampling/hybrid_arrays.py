"""What the loops over chains of states and numbers take, beside the densities and tables themselves."""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Bytes, Floats, Ints


class LinkArrays(NamedTuple):
    """States whose log odds are linear in numbers; one after the other."""

    child: Ints  # by position
    card: Ints
    offset_at: Ints
    offsets: Floats
    above_at: Ints
    above: Ints  # the discrete parents, by position
    number_at: Ints
    numbers: Ints  # the continuous parents, by index
    weight_at: Ints
    weights: Floats  # (continuous parents, states)


class EntryArrays(NamedTuple):
    """The entries of tables that are rewritten: where each is, and what it says."""

    base: Floats  # all tables, then the weights of single variables: what does not change
    line: Ints  # numbers with states among their parents, one for each entry
    line_row: Ints  # which of its densities
    line_to: Ints
    link: Ints  # states with numbers among their parents, one for each entry
    link_offset: Ints  # where the offsets of their configuration begin
    link_code: Ints
    link_to: Ints


class MoveArrays(NamedTuple):
    """Numbers that follow others by a line, and so do their children, or have log odds that do."""

    variable: Ints  # by index
    child_at: Ints
    child: Ints  # by index
    slot: Ints  # which of its parents the number is
    link_at: Ints
    link: Ints  # children with states
    low: Floats
    high: Floats
    sliced: Bytes  # whether its density is not normal
