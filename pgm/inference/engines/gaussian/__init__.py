"""Continuous variables: linear Gaussian densities on a strong tree (Lauritzen 1992; Lauritzen & Jensen 2001).

Continuous variables are eliminated first, for each combination of the discrete states in a clique; what is
left of them are tables over discrete variables, which the engine for tables takes from there. So
probabilities of discrete variables are exact, and a continuous one is exactly a mixture of normals.
"""
