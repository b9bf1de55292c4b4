"""Running a stranger's program: what it may see and do, who watches it, and how it ends."""
