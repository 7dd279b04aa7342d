"""What a loop takes, in its annotations: arrays without gaps, of these entries and with so many axes.

They are read when loops are compiled (docs/decisions/0045): what Python calls has them, the rest is inferred.
They stand apart from what changes often, because a change here makes all compiled loops stale.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

Floats = Annotated[np.ndarray, "float64", 1]
Ints = Annotated[np.ndarray, "int64", 1]
Ints32 = Annotated[np.ndarray, "int32", 1]
Ints8 = Annotated[np.ndarray, "int8", 1]
Bytes = Annotated[np.ndarray, "uint8", 1]
FloatTable = Annotated[np.ndarray, "float64", 2]
IntTable = Annotated[np.ndarray, "int64", 2]
IntTable32 = Annotated[np.ndarray, "int32", 2]
ByteTable = Annotated[np.ndarray, "uint8", 2]
ShortTable = Annotated[np.ndarray, "uint16", 2]
Flag = Annotated[np.ndarray, "flag", 1]  # uint8 that another thread may set: looked at each time
