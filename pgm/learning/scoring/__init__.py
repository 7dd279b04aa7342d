"""Scores of families, and tests of independence: what data say for and against an arc."""
