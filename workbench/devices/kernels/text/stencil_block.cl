KERNEL stencil_block(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y,
    GLOBAL const T* RESTRICT diagonal$bands$distances, const I64 n)
{
    EACH(i, n) {
        T sum[$columns];
        for (int k = 0; k < $columns; k++) sum[k] = T_MUL($diagonal_entry, x[i*$columns + k]);
        $neighbours
        for (int k = 0; k < $columns; k++) y[i*$columns + k] = sum[k];
    }
}
