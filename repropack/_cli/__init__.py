"""The command line: arguments in, one exit status out. Only this layer writes to streams."""
