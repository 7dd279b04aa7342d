"""The engine beside its peers, in one run, as ratios: `python -m benchmarks exact`, or `start`."""
