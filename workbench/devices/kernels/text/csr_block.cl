KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const I64 rows)
{
    EACH(row, rows) {
        T sum[$columns];
        for (int k = 0; k < $columns; k++) sum[k] = T_OF(0);
        for (INDEX j = starts[row]; j < starts[row + 1]; j++) {
            const I64 from = (I64)indices[j]*$columns;
            $add
        }
        for (int k = 0; k < $columns; k++) y[row*$columns + k] = sum[k];
    }
}
