"""Paper lines for vectors x and y that no program holds: their dot products, and y = M(x) in a pass of its own."""

PRODUCT = "y = M(x)"
DOTS = "xy = (x, y)\nyy = (y, y)\nxx = (x, x)"
