"""Engines that draw cases: independent weighted ones, or chains of them; one file a subject.

`layout` brings a question into arrays, `steps` says in which order variables are drawn and from what,
`weighted` and `chains` draw, `answers` makes estimates of the draws. The options are imported by
pgm.inference.engines, so this file imports nothing.
"""
