KERNEL coo(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT rows, GLOBAL const INDEX* RESTRICT columns,
    GLOBAL const INDEX* RESTRICT bounds, GLOBAL const INDEX* RESTRICT firsts, GLOBAL const T* RESTRICT x,
    GLOBAL T* RESTRICT y$result_arguments, const I64 tiles)
{
    $dots_begin
    SHARED(T, products, $per_item*GROUP);
    for (I64 tile = GROUP_ID; tile < tiles; tile += GROUPS) {
        const INDEX top = firsts[tile], end = firsts[tile + 1], from = bounds[tile], to = bounds[tile + 1];
        $products
        for (INDEX row = top + LOCAL_ID; row < end; row += GROUP) {
            T sum = T_OF(0);
            if (whole) {
                /* The first entry of the row, or of a later one. */
                INDEX first = from, last = to;
                while (first < last) {
                    const INDEX middle = first + (last - first)/2;
                    if (rows[middle] < row) first = middle + 1; else last = middle;
                }
                for (INDEX j = first; j < to && rows[j] == row; j++) sum = T_ADD(sum, products[j - from]);
            } else {
                for (int j = 0; j < GROUP; j++) sum = T_ADD(sum, products[j]);
            }
            $result
        }
        BARRIER;
    }
    $dots_end
}
