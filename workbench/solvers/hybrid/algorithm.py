"""Algorithm 2 of Tiwari and Vadhiyar, pipelined CG, in the parts that the schedules distribute.

Line numbers are those of the paper. `omega` is its delta, since delta is (p, A p) here. beta of the next iteration is
computed as soon as gamma is available, so that a row of the history is complete.
"""

BEGIN = """
    alpha = 1
    beta = 0
"""
"""In the first iteration beta = 0, so alpha must only be non-zero and the vectors of `PREVIOUS` have no effect."""

PREVIOUS = """
    z = w
    q = w
    s = w
    p = w
"""

INITIAL = """
    s = A(x)
    r = b - s
    u = M(r)
    w = A(u)
"""
"""Line 1."""

SCALARS = """
    delta = omega - beta*gamma/alpha
    alpha = gamma/delta if delta > 0 else 0
    previous = gamma
"""
"""Lines 5 to 9."""

BETA = """
    beta = gamma/previous
"""


def updates(n: str) -> str:
    """Lines 10 to 17, with the vector that is n."""
    return f"""
    z = {n} + beta*z
    q = m + beta*q
    s = w + beta*s
    p = u + beta*p
    x = x + alpha*p
    r = r - alpha*s
    u = u - alpha*q
    w = w - alpha*z
"""


UPDATES = updates("n")
"""Lines 10 to 17."""

DOTS = """
    gamma = (r, u)
    omega = (u, w)
    uu = (u, u)
    rr = (r, r)
"""
"""Lines 18 to 20, and the norms of u and r."""

PRECONDITION = """
    m = M(w)
"""
"""Line 21."""


def product(n: str) -> str:
    """Line 22, with the vector that is n."""
    return f"""
    {n} = A(m)
"""


PRODUCT = product("n")
"""Line 22."""
