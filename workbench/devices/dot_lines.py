"""Paper lines for vectors x and y that no program holds: their dot products, and y = M(x) in a pass of its own."""

from workbench.lines.types import OperatorDot

PRODUCT = "y = M(x)"
DOTS = "\n".join(f"{dot} = ({dot[0]}, {dot[1]})" for dot in OperatorDot)
