KERNEL keep(GLOBAL W* scalars, GLOBAL W* rows, const int capacity, const int width,
    const int norm, const int one, const int two)
{
    const int active = W_REAL(scalars[STOP]) == 0;
    const int row = (int)W_REAL(scalars[COUNT]);
    BARRIER;
    if (active && row < capacity) {
        for (int k = LOCAL_ID; k < width; k += GROUP) rows[1 + (I64)row*width + k] = scalars[k];
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
