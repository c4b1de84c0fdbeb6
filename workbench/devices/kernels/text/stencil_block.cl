KERNEL stencil_block(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y,
    GLOBAL const T* RESTRICT diagonal$bands$distances, const I64 entries)
{
    /* A work-item computes one column of a row, so that neighbours read neighbouring entries. */
    const I64 n = entries/$columns;
    EACH(e, entries) {
        const I64 i = e/$columns, k = e%$columns;
        T sum = T_MUL($diagonal_entry, x[e]);
        $neighbours
        y[e] = sum;
    }
}
