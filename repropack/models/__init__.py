"""The documents of a package and of the verbs: frozen pydantic models, nothing else."""
