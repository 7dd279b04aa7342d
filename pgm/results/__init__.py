"""What a question hands back: values that print as tables and know how they were made."""

from pgm.results.assignment import Assignment, RankedAssignments
from pgm.results.base import condition
from pgm.results.course import Course, Trace
from pgm.results.density import Density, as_density
from pgm.results.discrete import Distribution
from pgm.results.intervals import NORMAL_95, Intervals, farthest
from pgm.results.marginals import Marginals, MaxMarginals
from pgm.results.mixed import MixedAssignment, MixedMarginals
from pgm.results.report import EXACT, Report, exact_report, merged
from pgm.results.samples import Samples
from pgm.results.scalars import Information, Logarithm, Probability

__all__ = [
    "EXACT",
    "NORMAL_95",
    "Assignment",
    "Course",
    "Density",
    "Distribution",
    "Information",
    "Intervals",
    "Logarithm",
    "Marginals",
    "MaxMarginals",
    "MixedAssignment",
    "MixedMarginals",
    "Probability",
    "RankedAssignments",
    "Report",
    "Samples",
    "Trace",
    "as_density",
    "condition",
    "exact_report",
    "farthest",
    "merged",
]
