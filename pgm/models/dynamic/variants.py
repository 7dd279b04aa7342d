"""Variants of hidden Markov models: several chains, inputs, durations, parts that make a whole."""

from pgm.calls import guard_constructors, guard_methods

from .autoregressive_hmm import AutoregressiveHMM
from .coupled_hmm import CoupledHMM
from .factorial_hmm import FactorialHMM
from .input_output_hmm import InputOutputHMM
from .switching_hmm import SwitchingHMM
from .tree_hmm import TreeHMM

__all__ = ["AutoregressiveHMM", "CoupledHMM", "FactorialHMM", "InputOutputHMM", "SwitchingHMM", "TreeHMM"]

_ALL = [AutoregressiveHMM, CoupledHMM, FactorialHMM, InputOutputHMM, SwitchingHMM, TreeHMM]
guard_methods(_ALL)
guard_constructors(_ALL)
