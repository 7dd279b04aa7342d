"""Several errors of one file, told at once: each names its line and column."""

from __future__ import annotations

from pgm.errors import FileFormatError

_MOST_REFUSALS, _LETTERS_OF_REFUSALS = 10, 1000  # limits of one message


class Refusals:
    """Errors in independent parts of a file, to be reported together.

    Each part is read in a `with` block; `check`, or reaching the most that are listed, raises them.
    """

    def __init__(self) -> None:
        self.found: list[FileFormatError] = []
        self.letters = 0

    def __enter__(self) -> None:
        """Begin a part."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        """Record its error, if it is a FileFormatError."""
        if not isinstance(error, FileFormatError):
            return False
        self.found.append(error)
        self.letters += len(str(error))
        if len(self.found) == _MOST_REFUSALS or self.letters > _LETTERS_OF_REFUSALS:
            self.check(" (there may be more)")
        return True

    def check(self, more: str = "") -> None:
        """Raise the errors found, in file order."""
        if not self.found:
            return
        first, *others = sorted(self.found, key=lambda error: (error.line or 0, error.column or 0))
        place = len(str(FileFormatError(" ", first.path, first.line, first.column))) - 1
        message = "\n".join([str(first)[place:], *map(str, others)])
        raise FileFormatError(message + more, first.path, first.line, first.column) from None
