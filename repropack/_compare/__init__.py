"""Logs and arrays in, divergence and evidence out; pure."""
