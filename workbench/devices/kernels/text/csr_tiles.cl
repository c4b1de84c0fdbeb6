KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const INDEX* RESTRICT bounds, GLOBAL const T* RESTRICT x,
    GLOBAL T* RESTRICT y$result_arguments, const I64 tiles)
{
    $dots_begin
    SHARED(T, products, $per_item*GROUP);
    for (I64 tile = GROUP_ID; tile < tiles; tile += GROUPS) {
        const INDEX top = bounds[tile], end = bounds[tile + 1], from = starts[top], to = starts[end];
        const int whole = to - from <= $per_item*GROUP;
        if (whole) {
            _Pragma("unroll") for (int m = 0; m < $per_item; m++) {
                const INDEX j = from + m*GROUP + LOCAL_ID;
                if (j < to) products[j - from] = T_MUL(data[j], x[indices[j]]);
            }
        } else {
            T part = T_OF(0);
            for (INDEX j = from + LOCAL_ID; j < to; j += GROUP) part = T_ADD(part, T_MUL(data[j], x[indices[j]]));
            products[LOCAL_ID] = part;
        }
        BARRIER;
        for (INDEX row = top + LOCAL_ID; row < end; row += GROUP) {
            const INDEX first = whole ? starts[row] - from : 0, last = whole ? starts[row + 1] - from : GROUP;
            T sum = T_OF(0);
            for (INDEX j = first; j < last; j++) sum = T_ADD(sum, products[j]);
            $result
        }
        BARRIER;
    }
    $dots_end
}
