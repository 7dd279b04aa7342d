"""Probability blocks of BIF and DSC: rows of numbers, each after the states of the parents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NoReturn

import numpy as np

from pgm.cpds import DefaultCPD, TableCPD, table_input
from pgm.cpds.default import checked_rows
from pgm.cpds.statistics import Codes
from pgm.errors import InvalidTable, listed, nearest, shown

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
        return self.reader.first(self.block.start + self.starts[piece])

    @cached_property
    def starts(self) -> list[int]:
        """Where each piece begins, relative to the first; only error messages need it."""
        return list(accumulate((len(piece) + 1 for piece in self.pieces), initial=0))

    def fail(self, message: str, piece: int) -> NoReturn:
        """Raise the error that names the variable and the place of a piece."""
        self.reader.fail(f"{shown(self.child.name)}: {message}", self.position(piece))

    def cpd(self) -> TableCPD | DefaultCPD:
        """Return the table that the rows define; if most are the default, that is stored as one row."""
        pieces: list[int] = []  # for each row: its piece, the states before it, its probabilities
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
        return self.made(pieces, self.configurations(keys, pieces), texts, special)

    def after_key(self, text: str, piece: int) -> str:
        """Return what follows the states of a row: its numbers."""
        return text

    def keyword(self, text: str, piece: int) -> tuple[str, str]:
        """Return the keyword of this line and what follows it; "" if it has none."""
        keyword, rest = [*text.split(None, 1), "", ""][:2]
        return (keyword, rest) if keyword in ("table", "default", "property") else ("", "")

    def words(self, key: str, piece: int) -> list[str]:
        """Return the states that a key names, as `codes_of` of the reader has them."""
        words = key.replace(",", " ").split()
        return self.reader.plain(words, self.block.start) if QUOTE in key else words

    def configurations(self, keys: list[str], pieces: list[int]) -> Codes:
        """Return the codes of the parents' states that each key names, a row for each."""
        of_parents = list(map(self.reader.codes_of, self.given))
        found: list[int] = []
        for key, piece in zip(keys, pieces, strict=True):
            words = self.words(key, piece)
            try:
                found += [codes[word] for codes, word in zip(of_parents, words, strict=True)]
            except (KeyError, ValueError):
                self.fail_key(words, piece)
        return np.array(found, dtype=np.int64).reshape(len(keys), len(self.given))

    def fail_key(self, words: list[str], piece: int) -> NoReturn:
        """Raise the error that names the unknown state and its parent."""
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
        self, pieces: list[int], codes: Codes, texts: list[str], special: dict[str, tuple[int, str]]
    ) -> TableCPD | DefaultCPD:
        """Put the rows in their places in the table."""
        cards, card = [variable.card for variable in self.given], self.child.card
        count = table_input.product(cards)
        whole, default = special.get("table"), special.get("default")
        if whole and (texts or default):
            self.fail("rows or a default together with a 'table': a block has only one of them", whole[0])
        # As bytes if there are too many configurations to index.
        places = [row.tobytes() for row in codes] if count == table_input.UNCOUNTED else self.places(codes)
        if not whole:
            self.check_twice(places, codes, pieces)
            if default is None:
                self.check_missing(places, count)
            elif self.reader.is_compact([*cards, card], self.block):
                return self.compact(pieces, codes, texts, default)
        self.reader.reserve([*cards, card], self.child.name, self.block.at)
        if whole:
            values = self.numbers([whole[0]], [whole[1]], count * card).reshape(card, count).T
        else:
            values = np.empty((count, card))
            if default:
                values[:] = self.numbers([default[0]], [default[1]], card)
            values[places] = self.numbers(pieces, texts, card).reshape(-1, card)
        where = dict(zip(places, pieces, strict=True))
        other = (whole or default or (0,))[0]
        return self.finished(values, lambda row: self.position(where.get(row, other)))

    def finished(self, values: np.ndarray, place: Callable[[int], int]) -> TableCPD:
        """Return the table of these rows; `place` tells where in the text one is."""
        return self.reader.table(self.child, self.given, values, place)

    def compact(
        self, pieces: list[int], codes: Codes, texts: list[str], default: tuple[int, str]
    ) -> DefaultCPD:
        """Return the rows that are given, and the one that all others share."""
        pieces, texts = [*pieces, default[0]], [*texts, default[1]]
        values = self.numbers(pieces, texts, self.child.card).reshape(len(texts), self.child.card)
        bad = 0

        def label(row: int) -> str:
            nonlocal bad
            bad = row
            return "default" if row == len(codes) else table_input.row_label(self.given, codes[row])

        try:
            found = checked_rows(self.child, values, label)
        except InvalidTable as error:
            raise self.reader.source.error(str(error), self.position(pieces[bad])) from None
        return DefaultCPD.trusted(self.child, self.given, codes.astype(np.int32), found)

    def check_twice(self, places: Sequence[object], codes: Codes, pieces: list[int]) -> None:
        """Raise if a row is given twice."""
        if len(set(places)) < len(places):
            first = {place: number for number, place in reversed(list(enumerate(places)))}
            again = next(number for number, place in enumerate(places) if first[place] < number)
            self.fail(f"a second row for {table_input.row_label(self.given, codes[again])}", pieces[again])

    def check_missing(self, places: Sequence[object], count: int) -> None:
        """Raise if a row is left out without a default."""
        missing = count - len(places)
        if not missing:
            return
        row = "its row"
        if count == table_input.UNCOUNTED:
            row = "nearly every row"
        elif self.given:
            taken = set(places)
            first = next(place for place in range(count) if place not in taken)
            row = f"the row for {table_input.row_label(self.given, self.configuration(first))}"
            row += f" (and {missing - 1:,} more)" if missing > 1 else ""
        self.reader.fail(
            f"{shown(self.child.name)}: {row} is missing, and there is no 'default'", self.block.at
        )

    def places(self, codes: Codes) -> list[int]:
        """Return the indices of these configurations in the table."""
        strides = np.ones(len(self.given), dtype=np.int64)
        for axis in range(len(self.given) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * self.given[axis].card
        found: list[int] = (codes @ strides).tolist()
        return found

    def configuration(self, place: int) -> list[int]:
        """Return the codes of the configuration with this index."""
        codes: list[int] = []
        for variable in reversed(self.given):
            place, code = divmod(place, variable.card)
            codes.append(code)
        return codes[::-1]

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
            if parsed(words := text.replace(",", " ").split(), text) is None:
                self.reader.check_numbers(words, self.child.name, self.position(piece))
        raise AssertionError(words)
