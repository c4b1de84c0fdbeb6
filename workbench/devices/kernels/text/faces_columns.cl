KERNEL face_product(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, $arguments, GLOBAL W* partial, const I64 n)
{
    /* Numbers along the farthest direction are read ahead, so that a work-item waits for memory once. */
    $dots_begin
    $steps
    const INDEX across = $farthest < rows ? $farthest : rows;
    const INDEX pieces = ((rows + across - 1)/across + $along_less_one)/$along;
    for (INDEX item = GROUP_ID*GROUP + LOCAL_ID; item < across*pieces; item += GROUPS*GROUP) {
        const INDEX first = item + item/across*($along_less_one*across);
        T along[$along + 2];
        int read[$along + 1];
        $unroll for (int k = 0; k < $along + 2; k++) {
            const INDEX j = first + (k - 1)*across;
            along[k] = j >= 0 && j < rows ? x[j] : T_OF(0);
        }
        $unroll for (int k = 0; k < $along + 1; k++) {
            const INDEX j = first + k*across;
            read[k] = j < rows ? codes[j] : $closed;
        }
        $unroll for (int k = 0; k < $along; k++) {
            const INDEX i = first + k*across;
            if (i < rows) {
                const T before = along[k], here = along[k + 1], after = along[k + 2];
                const int code = read[k], above = read[k + 1];
                $sum
                const T v = sum;
                y[i] = v; $dots_add
            }
        }
    }
    $dots_end
}
