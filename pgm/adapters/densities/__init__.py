"""Nonparametric density estimates: histograms, windows (kernels), nearest neighbours."""

from .histogram import HistogramDensity
from .neighbours import NeighbourDensity
from .parzen import ParzenDensity
from .planning import rows_needed

__all__ = ["HistogramDensity", "NeighbourDensity", "ParzenDensity", "rows_needed"]
