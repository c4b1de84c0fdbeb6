"""Several preconditioners in place of one: boxes of a Schwarz method, a coarse space, sums of others."""
