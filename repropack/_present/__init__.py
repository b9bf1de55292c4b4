"""Results in, words out. Nothing here runs, reads or compares anything, or knows a clock."""
