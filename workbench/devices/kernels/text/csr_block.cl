KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts$long_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const I64 rows)
{
    /* y = A x, or y + A x, for a CSR matrix and a row-major block vector: a work-item computes one column of a row, so that neighbours
       read neighbouring entries of x, and $width of them share its entries. `top` is the first row of the group. */
    SHARED(T, parts, GROUP);
    const int slot = LOCAL_ID/$lanes, part = LOCAL_ID%$lanes/$columns, k = LOCAL_ID%$columns;
    $long_rows
    for (I64 top = GROUP_ID*$rows_per_group; top < rows; top += GROUPS*$rows_per_group) {
        const I64 row = top + slot;
        const int inside = slot < $rows_per_group && row < rows$short;
        T sum = T_OF(0);
        if (inside)
            for (INDEX j = starts[row] + part; j < starts[row + 1]; j += $width)
                sum = T_ADD(sum, T_MUL(data[j], x[(I64)indices[j]*$columns + k]));
        if ($width > 1) {
            parts[LOCAL_ID] = sum;
            BARRIER;
            for (int reach = $width/2; reach > 0; reach /= 2) {
                if (inside && part < reach)
                    parts[LOCAL_ID] = T_ADD(parts[LOCAL_ID], parts[LOCAL_ID + reach*$columns]);
                BARRIER;
            }
            sum = parts[LOCAL_ID];
            BARRIER;
        }
        if (inside && part == 0$wanted) y[row*$columns + k] = $result;
    }
}
