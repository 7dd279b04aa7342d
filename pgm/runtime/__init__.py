"""How things run: clock and progress, threads, buffers, forks, Ctrl-C, loading of compiled loops."""
