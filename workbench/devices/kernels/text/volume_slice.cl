KERNEL volume(GLOBAL const T* RESTRICT x, GLOBAL R* RESTRICT out, const I64 layers, const I64 rows, const I64 columns,
    const I64 step, const I64 peaks, const I64 high, const I64 width, const I64 n)
{
    /* out[i] = the value of largest magnitude, with its sign, in a block of step^3 cells; of equal magnitudes the
       positive one. Without peaks the cell in the middle. See devices/volume_slice.py. */
    FOR_EACH(i, n) {
        I64 front = i/(width*high)*step, top = i/width%high*step, left = i%width*step;
        I64 back = front + step < layers ? front + step : layers;
        I64 bottom = top + step < rows ? top + step : rows;
        I64 right = left + step < columns ? left + step : columns;
        if (!peaks) {
            front = front + step/2 < back ? front + step/2 : back - 1;
            top = top + step/2 < bottom ? top + step/2 : bottom - 1;
            left = left + step/2 < right ? left + step/2 : right - 1;
            back = front + 1; bottom = top + 1; right = left + 1;
        }
        R peak = T_REAL(x[(front*rows + top)*columns + left]);
        for (I64 z = front; z < back; z++)
            for (I64 r = top; r < bottom; r++)
                for (I64 c = left; c < right; c++) {
                    const R other = T_REAL(x[(z*rows + r)*columns + c]);
                    const R a = peak < 0 ? -peak : peak, b = other < 0 ? -other : other;
                    /* NaN wins over everything and is never replaced. */
                    if (b > a || (b == a && other > peak) || other != other) peak = other;
                }
        out[i] = peak;
    }
}
