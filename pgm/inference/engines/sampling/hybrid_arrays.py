"""Arguments of the loops over hybrid chains, beside the densities and tables themselves."""

from __future__ import annotations

from typing import NamedTuple

from pgm.runtime.kinds import Bytes, Floats, Ints


class LinkArrays(NamedTuple):
    """Discrete variables whose log odds are linear in continuous parents, one after the other."""

    child: Ints  # by position
    card: Ints
    offset_at: Ints
    offsets: Floats
    above_at: Ints
    above: Ints  # the discrete parents, by position
    continuous_at: Ints
    continuous: Ints  # the continuous parents, by index
    weight_at: Ints
    weights: Floats  # (continuous parents, states)


class EntryArrays(NamedTuple):
    """The entries of tables that are rewritten: where each is, and which density or log odds it takes."""

    base: Floats  # the constant part of all tables, then of the weights of single variables
    line: Ints  # continuous variables with discrete parents, one for each entry
    line_row: Ints  # which of its densities
    line_to: Ints
    link: Ints  # discrete variables with continuous parents, one for each entry
    link_offset: Ints  # where the offsets of their configuration begin
    link_code: Ints
    link_to: Ints


class MoveArrays(NamedTuple):
    """Continuous variables moved without calls: they are linear, their children too or in their log odds."""

    variable: Ints  # by index
    child_at: Ints
    child: Ints  # by index
    slot: Ints  # which parent of that child the variable is
    link_at: Ints
    link: Ints  # discrete children
    low: Floats
    high: Floats
    sliced: Bytes  # whether its density is not normal
