"""The one gate for data frames: rows that were observed, and tables that were written as frames."""

from .long_form import LongForm, is_frame, long_form
from .reading import Alike, Columns, Numbers, among, columns, names_of, numbers
from .sequences import Sequences, sequences

__all__ = [
    "Alike",
    "Columns",
    "LongForm",
    "Numbers",
    "Sequences",
    "among",
    "columns",
    "is_frame",
    "long_form",
    "names_of",
    "numbers",
    "sequences",
]
