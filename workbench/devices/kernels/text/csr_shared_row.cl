KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, GLOBAL const INDEX* RESTRICT starts$part_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$result_arguments, const I64 rows)
{
    /* y = A x for a CSR matrix: $items_per_row work-items share a row and add their parts of it in a tree. `top` is the
       first row of the group. */
    $dots_begin
    SHARED(T, parts, GROUP);
    const int place = LOCAL_ID%$items_per_row, rows_per_group = GROUP/$items_per_row;
    for (I64 top = GROUP_ID*rows_per_group; top < rows; top += GROUPS*rows_per_group) {
        const I64 row = top + LOCAL_ID/$items_per_row;
        T part = T_OF(0);
        if (row < rows)
            for (INDEX j = starts[row] + place; j < $end_of_row; j += $items_per_row)
                part = T_ADD(part, T_MUL(data[j], x[$column]));
        parts[LOCAL_ID] = part;
        BARRIER;
        for (int reach = $half; reach > 0; reach /= 2) {
            if (place < reach) parts[LOCAL_ID] = T_ADD(parts[LOCAL_ID], parts[LOCAL_ID + reach]);
            BARRIER;
        }
        if (place == 0 && row < rows) {
            const T sum = parts[LOCAL_ID];
            $result
        }
        BARRIER;
    }
    $dots_end
}
