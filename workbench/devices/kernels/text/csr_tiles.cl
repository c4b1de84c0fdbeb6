KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT columns,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const INDEX* RESTRICT bounds, GLOBAL const T* RESTRICT x,
    GLOBAL T* RESTRICT y$result_arguments, const I64 tiles)
{
    $dots_begin
    SHARED(T, products, $per_item*GROUP);
    for (I64 tile = GROUP_ID; tile < tiles; tile += GROUPS) {
        const INDEX top = bounds[tile], end = bounds[tile + 1], from = starts[top], to = starts[end];
        $products
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
