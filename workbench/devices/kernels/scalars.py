"""Kernels for the scalars of a workspace: set one, and the watch, which stores a row of them per iteration; and one
that fills a vector with a number.

A row is stored only while the run has not stopped. It stops if the squared norm of the stopping criterion is not above
the limit or exceeds the divergence bound, or if a scalar that must be positive is not; NaN stops it too. From then on
passes and scalar lines do nothing, so the vectors remain those of that iteration, however many more are launched before
the host reads.
"""

from workbench.devices.kernels.source import read

SET, FILL, ARM, KEEP = (read(name) for name in ("set_scalar", "fill", "arm", "keep"))
