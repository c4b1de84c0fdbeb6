"""Results of runs: solution, report, snapshots and films."""
