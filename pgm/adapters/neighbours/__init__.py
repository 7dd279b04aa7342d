"""Nearest neighbours: classifiers, editing, prototype networks, metric learning."""
