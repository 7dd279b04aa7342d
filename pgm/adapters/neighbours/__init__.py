"""Neighbours: classifiers, few rows instead of all, networks of prototypes, learned metrics."""
