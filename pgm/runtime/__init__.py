"""How things run: clock and progress, threads, buffers, forks, Ctrl-C, compiled loops found and loaded."""
