"""Explanation, sensitivity analysis, and value of information for answers."""
