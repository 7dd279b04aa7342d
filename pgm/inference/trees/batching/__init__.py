"""Rows of a frame that share a tree, answered in batches."""
