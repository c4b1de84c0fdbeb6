"""Facts about this process: its limits, and forks of it."""
