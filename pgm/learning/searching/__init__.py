"""Searches for structures: over graphs, orders, and tests of independence."""
