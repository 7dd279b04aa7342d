"""Classifiers in scikit-learn's conventions, each a model that says how classes make rows."""
