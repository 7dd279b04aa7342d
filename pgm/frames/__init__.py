"""The one gate for data frames: observed rows, and tables written as frames."""

from .alike import Alike
from .inferring import domains_of
from .lazily import Groups, Held, hold
from .long_form import LongForm, is_frame, long_form
from .reading import Columns, RealColumns, among, columns, is_rows, names_of, real_columns, weights_of
from .sequences import Sequences, has_parts, rows_of, sequences
from .side_by_side import side_by_side
from .undeclared import Observations, observations

__all__ = [
    "Alike",
    "Columns",
    "Groups",
    "Held",
    "LongForm",
    "Observations",
    "RealColumns",
    "Sequences",
    "among",
    "columns",
    "domains_of",
    "has_parts",
    "hold",
    "is_frame",
    "is_rows",
    "long_form",
    "names_of",
    "observations",
    "real_columns",
    "rows_of",
    "sequences",
    "side_by_side",
    "weights_of",
]
