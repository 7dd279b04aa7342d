"""Probability blocks, which BIF and DSC have: rows of numbers after the states of the parents."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np

from pgm.cpds import TableCPD, rows
from pgm.errors import listed, nearest, shown

from .reader import Block, Reader
from .scanner import QUOTE
from .text import parsed


class Rows:
    """The body of a probability block, cut at its semicolons."""

    expected = "a row '( states ) numbers;', 'table', 'default' or 'property'"

    def __init__(self, reader: Reader, block: Block) -> None:
        self.reader = reader
        self.block = block
        self.child, *given = [reader.known(name, block.at) for name in (block.child, *block.parents)]
        self.given = tuple(given)
        self.pieces = reader.text[block.start : block.end].split(";")

    def position(self, piece: int) -> int:
        """Return where in the text a piece begins."""
        return self.reader.first(self.block.start + sum(len(before) + 1 for before in self.pieces[:piece]))

    def fail(self, message: str, piece: int) -> NoReturn:
        """Raise the error that names the variable and the place of a piece."""
        self.reader.fail(f"{shown(self.child.name)}: {message}", self.position(piece))

    def cpd(self) -> TableCPD:
        """Return the table that the rows make."""
        pieces: list[int] = []  # of each row: its number, the states before it, its probabilities
        keys: list[str] = []
        texts: list[str] = []
        special: dict[str, tuple[int, str]] = {}
        for number, piece in enumerate(self.pieces[:-1]):
            piece = piece.lstrip()
            if piece[:1] == "(":
                key, closed, text = piece[1:].partition(")")
                if not closed:
                    self.fail("expected ')' after the states of the parents", number)
                pieces.append(number)
                keys.append(key)
                texts.append(self.after_key(text, number))
                continue
            keyword, text = self.keyword(piece, number)
            if not keyword or "{" in piece:
                found = self.reader.as_written(piece[:40]) if piece else "';'"
                self.fail(f"expected {self.expected}, found {found}", number)
            if keyword in special:
                self.fail(f"a second '{keyword}'", number)
            if keyword != "property":
                special[keyword] = (number, text)
        if rest := self.pieces[-1].strip():
            self.fail(f"expected ';' after {self.reader.as_written(rest[-40:])}", len(self.pieces) - 1)
        return self.made(pieces, self.places(keys, pieces), texts, special)

    def after_key(self, text: str, piece: int) -> str:
        """Return what follows the states of a row: its numbers."""
        return text

    def keyword(self, text: str, piece: int) -> tuple[str, str]:
        """Return which kind of line this is, and what follows; "" where it is none."""
        keyword, rest = [*text.split(None, 1), "", ""][:2]
        return (keyword, rest) if keyword in ("table", "default", "property") else ("", "")

    def words(self, key: str, piece: int) -> list[str]:
        """Return the states that a key names, as `codes_of` of the reader has them."""
        words = key.replace(",", " ").split()
        return self.reader.plain(words, self.block.start) if QUOTE in key else words

    def places(self, keys: list[str], pieces: list[int]) -> list[int]:
        """Return the number of the parents' configuration that each key names."""
        strides: list[int] = []
        count = 1
        for variable in reversed(self.given):
            strides.append(count)
            count *= variable.card
        axes = list(zip(map(self.reader.codes_of, self.given), reversed(strides), strict=True))
        places: list[int] = []
        for key, piece in zip(keys, pieces, strict=True):
            words = self.words(key, piece)
            place = 0
            try:
                for word, (codes, stride) in zip(words, axes, strict=True):
                    place += codes[word] * stride
            except (KeyError, ValueError):
                self.fail_key(words, piece)
            places.append(place)
        return places

    def fail_key(self, words: list[str], piece: int) -> NoReturn:
        """Raise the error that says which state of which parent there is not."""
        if len(words) != len(self.given):
            parents = listed([variable.name for variable in self.given])
            self.fail(f"expected a state of each parent ({parents}), found {len(words)} words", piece)
        for word, variable in zip(words, self.given, strict=True):
            if word not in self.reader.codes_of(variable):
                hint = nearest(word, variable.states)
                states = listed(variable.states)
                self.fail(
                    f"the parent {shown(variable.name)} has no state {shown(word)}; it has {states}.{hint}",
                    piece,
                )
        raise AssertionError(words)

    def made(
        self, pieces: list[int], places: list[int], texts: list[str], special: dict[str, tuple[int, str]]
    ) -> TableCPD:
        """Put the rows where they belong."""
        count, card = math.prod(variable.card for variable in self.given), self.child.card
        whole, default = special.get("table"), special.get("default")
        if whole and (texts or default):
            self.fail("rows or a default beside a 'table': only one of them can hold", whole[0])
        if not whole and not default:
            self.check_rows(places, pieces, count)
        elif len(set(places)) < len(places):
            self.check_rows(places, pieces, len(places))
        self.reader.reserve(count * card, self.child.name, len(self.given), self.block.at)
        if whole:
            values = self.numbers([whole[0]], [whole[1]], count * card).reshape(card, count).T
        else:
            values = np.empty((count, card))
            if default:
                values[:] = self.numbers([default[0]], [default[1]], card)
            values[places] = self.numbers(pieces, texts, card).reshape(-1, card)
        where = dict(zip(places, pieces, strict=True))
        other = (whole or default or (0,))[0]
        return self.reader.table(
            self.child, self.given, values, lambda row: self.position(where.get(row, other))
        )

    def check_rows(self, places: list[int], pieces: list[int], count: int) -> None:
        """Refuse rows given twice and rows left out."""
        if len(set(places)) < len(places):
            seen: set[int] = set()
            for place, piece in zip(places, pieces, strict=True):
                if place in seen:
                    self.fail(f"a second row for {self.row(place)}", piece)
                seen.add(place)
        if len(places) < count:
            ordered = sorted(places)
            first = next((place for place, given in enumerate(ordered) if place != given), len(ordered))
            row = f"the row for {self.row(first)}" if self.given else "its row"
            more = f" (and {count - len(places) - 1:,} more)" if count - len(places) > 1 else ""
            self.reader.fail(
                f"{shown(self.child.name)}: {row}{more} is missing, and there is no 'default'", self.block.at
            )

    def row(self, place: int) -> str:
        """Name the parents' configuration of this number."""
        codes: list[int] = []
        for variable in reversed(self.given):
            place, code = divmod(place, variable.card)
            codes.append(code)
        return rows.row_label(self.given, reversed(codes))

    def numbers(self, pieces: list[int], texts: list[str], each: int) -> np.ndarray:
        """Read the numbers of some pieces, `each` of them in every piece."""
        words: list[str] = []
        for text in texts:
            before = len(words)
            words += text.replace(",", " ").split()
            if len(words) - before != each:
                piece = pieces[texts.index(text)]
                self.reader.check_numbers(words[before:], self.child.name, self.position(piece))
                self.fail(f"expected {each} numbers, found {len(words) - before}", piece)
        found = parsed(words, "".join(texts))
        if found is not None:
            return found
        for text, piece in zip(texts, pieces, strict=True):
            words = text.replace(",", " ").split()
            self.reader.check_numbers(words, self.child.name, self.position(piece))
        raise AssertionError(words)
