"""Opens packages and logs: strict checks, typed access to their parts. Nothing is ever executed."""
