"""Kernels for the scalars of a workspace: setting one, and the watch that keeps a row of them per iteration; and one
that fills a vector with a number.

A row is kept only while the run has not stopped. It stops where the square of the norm that decides is not above the
limit or above the most that it may be, or where a scalar that must be positive is not; NaN stops it too. From then on
passes and scalar lines do nothing, so that vectors stay those of that iteration, however many more are launched before
the host looks.
"""

SET = """KERNEL set_scalar(GLOBAL W* scalars, const int slot, const V real, const V imaginary)
{
    if (LOCAL_ID == 0) scalars[slot] = W_FROM(real, imaginary);
}
"""

FILL = """KERNEL fill(GLOBAL T* RESTRICT out, const R real, const R imaginary, const I64 n)
{
    EACH(i, n) out[i] = T_FROM(real, imaginary);
}
"""

ARM = """KERNEL arm(GLOBAL W* scalars, const V limit, const V most)
{
    if (LOCAL_ID == 0) {
        scalars[STOP] = W_OF(0);
        scalars[COUNT] = W_OF(0);
        scalars[LIMIT] = W_OF(limit);
        scalars[MOST] = W_OF(most);
    }
}
"""

KEEP = """KERNEL keep(GLOBAL W* scalars, GLOBAL W* rows, const int capacity, const int norm, const int one,
    const int two)
{
    const int going = W_REAL(scalars[STOP]) == 0;
    const int row = (int)W_REAL(scalars[COUNT]);
    BARRIER;
    if (going && row < capacity) {
        for (int k = LOCAL_ID; k < STOP; k += GROUP) rows[1 + row*STOP + k] = scalars[k];
        if (LOCAL_ID == 0) {
            const int small = norm >= 0 && !(W_REAL(scalars[norm]) > W_REAL(scalars[LIMIT]));
            const int large = norm >= 0 && W_REAL(scalars[norm]) > W_REAL(scalars[MOST]);
            const int broken = (one >= 0 && !(W_REAL(scalars[one]) > 0)) || (two >= 0 && !(W_REAL(scalars[two]) > 0));
            scalars[COUNT] = W_OF(row + 1);
            rows[0] = W_OF(row + 1);
            if (small || large || broken) scalars[STOP] = W_OF(1);
        }
    }
}
"""
