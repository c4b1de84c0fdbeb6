KERNEL levels(
    GLOBAL const T* RESTRICT low, GLOBAL const INDEX* RESTRICT low_indices, GLOBAL const INDEX* RESTRICT low_starts,
    GLOBAL const T* RESTRICT up, GLOBAL const INDEX* RESTRICT up_indices, GLOBAL const INDEX* RESTRICT up_starts,
    GLOBAL const T* RESTRICT inverse, const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial,
    GLOBAL const INDEX* RESTRICT order, GLOBAL const INDEX* RESTRICT bounds,
    GLOBAL const INDEX* RESTRICT firsts, const I64 count)
{
    $dots_begin
    for (I64 k = GROUP_ID; k < count; k += GROUPS) {
        for (INDEX level = firsts[k]; level < firsts[k + 1]; level++) {
            for (INDEX m = bounds[level] + LOCAL_ID; m < bounds[level + 1]; m += GROUP) {
                const INDEX i = order[m];
                T v = T_SCALE(scale, r[i]);
                for (INDEX j = low_starts[i]; j < low_starts[i + 1]; j++)
                    v = T_SUB(v, T_MUL(low[j], u[low_indices[j]]));
                u[i] = T_MUL(v, inverse[i]);
            }
            BARRIER;
        }
        for (INDEX level = firsts[k + 1]; level > firsts[k]; level--) {
            for (INDEX m = bounds[level - 1] + LOCAL_ID; m < bounds[level]; m += GROUP) {
                const INDEX i = order[m];
                T sum = T_OF(0);
                for (INDEX j = up_starts[i]; j < up_starts[i + 1]; j++)
                    sum = T_ADD(sum, T_MUL(up[j], u[up_indices[j]]));
                const T v = T_SUB(u[i], T_MUL(inverse[i], sum));
                u[i] = v;
                $dots_add
            }
            BARRIER;
        }
    }
    $dots_end
}
