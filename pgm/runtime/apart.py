"""A range whose steps have nothing to do with each other."""

from __future__ import annotations

# `for j in apart(n)` promises the compiler that no step reads or writes an entry that another step writes,
# under whatever names of arrays, nor a variable that another has set: then it may do several at once.
apart = range
