"""Where the world leaks in: environment, worker processes, sandbox."""
