"""Variants of hidden Markov models: several chains, inputs, durations, composition."""

from pgm.calls import guard_classes

from .autoregressive_hmm import AutoregressiveHMM
from .composed_hmm import ComposedHMM
from .composition import choice_of, grammar_of, loop_of, part_of, sequence_of
from .coupled_hmm import CoupledHMM
from .factorial_hmm import FactorialHMM
from .input_output_hmm import InputOutputHMM
from .mealy_hmm import MealyHMM
from .semi_markov_hmm import SemiMarkovHMM
from .switching_hmm import SwitchingHMM
from .tree_hmm import TreeHMM
from .urn_hmm import UrnHMM

__all__ = [
    "AutoregressiveHMM",
    "ComposedHMM",
    "CoupledHMM",
    "FactorialHMM",
    "InputOutputHMM",
    "MealyHMM",
    "SemiMarkovHMM",
    "SwitchingHMM",
    "TreeHMM",
    "UrnHMM",
    "choice_of",
    "grammar_of",
    "loop_of",
    "part_of",
    "sequence_of",
]

_ALL = [FactorialHMM, CoupledHMM, SwitchingHMM, TreeHMM, SemiMarkovHMM, ComposedHMM]
_ALL += [MealyHMM, UrnHMM, InputOutputHMM, AutoregressiveHMM]
guard_classes(_ALL)
