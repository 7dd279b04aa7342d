"""The loops of this room."""

from __future__ import annotations

from pgm.runtime.loops import Loops

LINEAR = Loops("pgm.adapters.linear.compiled", "following rows")
