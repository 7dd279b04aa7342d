"""What a question hands back: values that print as tables and know how they were made."""

from pgm.results.assignment import Assignment, RankedAssignments
from pgm.results.base import condition
from pgm.results.course import Course, Trace
from pgm.results.density import Density, as_density
from pgm.results.discrete import Distribution
from pgm.results.fit_report import FitReport
from pgm.results.gaussian_path import Filtered, Forecast, GaussianPath, Matrices, Output, Seen, Smoothed
from pgm.results.intervals import NORMAL_95, Intervals, farthest
from pgm.results.joint_steps import ChainBeliefs, JointBeliefs, JointPath
from pgm.results.marginals import Marginals, MaxMarginals
from pgm.results.mixed import MixedAssignment, MixedMarginals
from pgm.results.network_steps import NetworkBeliefs, NetworkCourse, SampledSteps
from pgm.results.particle_paths import SmoothedPaths
from pgm.results.report import EXACT, Report, exact_report, merged
from pgm.results.sampled_series import SampledSeries
from pgm.results.samples import Samples
from pgm.results.scalars import ExpectedUtility, Information, Logarithm, Probability
from pgm.results.steps import PerSequence, SampledSequence, SequenceForecast, StateBeliefs, StatePath
from pgm.results.switching_path import SampledRegimes, SwitchingFiltered, SwitchingForecast, SwitchingSmoothed

__all__ = [
    "EXACT",
    "NORMAL_95",
    "Assignment",
    "ChainBeliefs",
    "Course",
    "Density",
    "Distribution",
    "ExpectedUtility",
    "Filtered",
    "FitReport",
    "Forecast",
    "GaussianPath",
    "Information",
    "Intervals",
    "JointBeliefs",
    "JointPath",
    "Logarithm",
    "Marginals",
    "Matrices",
    "MaxMarginals",
    "MixedAssignment",
    "MixedMarginals",
    "NetworkBeliefs",
    "NetworkCourse",
    "Output",
    "PerSequence",
    "Probability",
    "RankedAssignments",
    "Report",
    "SampledRegimes",
    "SampledSequence",
    "SampledSeries",
    "SampledSteps",
    "Samples",
    "Seen",
    "SequenceForecast",
    "Smoothed",
    "SmoothedPaths",
    "StateBeliefs",
    "StatePath",
    "SwitchingFiltered",
    "SwitchingForecast",
    "SwitchingSmoothed",
    "Trace",
    "as_density",
    "condition",
    "exact_report",
    "farthest",
    "merged",
]
