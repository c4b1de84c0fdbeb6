"""The list of all runs: their table, their convergence in one plot, saved and opened as one file."""
