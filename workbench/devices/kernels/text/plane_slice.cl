KERNEL plane(GLOBAL const T* RESTRICT x, GLOBAL R* RESTRICT out, const I64 first, const I64 down,
    const I64 across, const I64 rows, const I64 columns, const I64 step, const I64 begins, const I64 reach,
    const I64 width, const I64 n)
{
    /* out[i] = the value of largest magnitude, with its sign, in a block of reach x reach cells of a plane; of equal
       magnitudes the positive one. Blocks are `step` cells apart; with reach 1 every step-th cell is taken. See
       devices/plane_slice.py. */
    FOR_EACH(i, n) {
        const I64 top = i/width*step + begins, left = i%width*step + begins;
        const I64 bottom = top + reach < rows ? top + reach : rows;
        const I64 right = left + reach < columns ? left + reach : columns;
        R peak = T_REAL(x[first + top*down + left*across]);
        for (I64 r = top; r < bottom; r++)
            for (I64 c = left; c < right; c++) {
                const R other = T_REAL(x[first + r*down + c*across]);
                const R a = peak < 0 ? -peak : peak, b = other < 0 ? -other : other;
                /* NaN wins over everything and is never replaced. */
                if (b > a || (b == a && other > peak) || other != other) peak = other;
            }
        out[i] = peak;
    }
}
