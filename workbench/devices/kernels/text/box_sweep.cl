KERNEL sweep(GLOBAL const T* RESTRICT z, GLOBAL T* RESTRICT next, GLOBAL const T* RESTRICT right,
    GLOBAL const I64* RESTRICT boxes, GLOBAL const I64* RESTRICT tiles, $coefficients, const I64 jobs)
{
    for (I64 job = GROUP_ID; job < jobs; job += GROUPS) {
        $place
        for (int m = LOCAL_ID; m < $edge*$edge; m += GROUP) {
            const I64 x = left + m%$edge, y = top + m/$edge, i = start + y*width + x;
            if (x >= width || y >= rows) continue;
            const T zero = T_OF(0), rhs = right[i];
            const T w = x > 0 ? z[i - 1] : zero, e = x + 1 < width ? z[i + 1] : zero;
            const T s = y > 0 ? z[i - width] : zero, n = y + 1 < rows ? z[i + width] : zero;
            next[i] = $formula;
        }
    }
}
