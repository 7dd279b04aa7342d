"""Continuous variables: linear Gaussian densities on a strong tree (Lauritzen 1992; Lauritzen & Jensen 2001).

Continuous variables are eliminated first, for each configuration of a clique's discrete variables; what is
left are tables over discrete variables, which the discrete engine takes from there. So
probabilities of discrete variables are exact, and that of a continuous one is exactly a mixture of normals.
"""
