"""Scores of families, and tests of independence: the evidence for and against an arc."""
