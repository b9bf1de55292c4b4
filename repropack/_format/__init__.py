"""Bytes in, bytes out: documents, logs, arrays and archives. No clock, no randomness, no process.

Equal values give equal bytes, and a reader accepts only the form that the writer makes.
"""
