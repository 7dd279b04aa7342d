"""Compiles the loops of pgm when the package is built: from the files named compiled.py, through C++.

`source` reads a file, `translate` turns one function into C++ and infers the kinds of its variables, `module`
puts a file together, `compiler` calls the compiler, `builds` does so for what is stale, `loops.hpp` is what
the C++ stands on. Not part of pgm: it is needed where pgm is built. `python -m build_loops` compiles what has
changed in a checkout; docs/developer/loops.md says how.
"""
