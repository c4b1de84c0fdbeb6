"""Costs of methods, counted from lines and sizes."""

from workbench.costs.roofline import RooflinePoint, roofline_points
from workbench.costs.solver_costs import Cost, solver_costs

__all__ = ["Cost", "RooflinePoint", "roofline_points", "solver_costs"]
