"""Explanation of answers, sensitivity analysis, and value of information."""
