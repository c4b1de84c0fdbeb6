"""Preconditioners on the cores, applied to each unit vector to be compared with dense algebra."""

import numpy as np

from workbench import devices
from workbench.registry import blocks as registry

CPU = devices.device("cpu")


def set_up(spec, operator, **values):
    return registry.find("preconditioner", spec, **values).setup(operator, CPU)


def dense_inverse(M, operator):
    size = operator.shape[0]
    columns = np.empty((size, size), operator.dtype)
    for place, unit in enumerate(np.eye(size, dtype=operator.dtype)):
        u = np.empty_like(unit)
        M.apply(unit, u)
        columns[:, place] = u
    return columns
