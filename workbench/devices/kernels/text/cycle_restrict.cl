KERNEL cycle_restrict($matrix, GLOBAL const INDEX* RESTRICT starts, GLOBAL const R* RESTRICT weights,
    GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT below, const I64 rows, const I64 parents)
{
    /* A group has the rows of $parents parents. */
    SHARED(T, room, $most);
    for (I64 low = GROUP_ID*$parents; low < parents; low += GROUPS*$parents) {
        const I64 high = low + $parents < parents ? low + $parents : parents, first = starts[low];
        for (I64 i = first + LOCAL_ID; i < starts[high]; i += GROUP) {
            $product
            room[i - first] = T_SCALE(weights[i], T_SUB(b[i], product));
        }
        BARRIER;
        for (I64 k = low + LOCAL_ID; k < high; k += GROUP) {
            T sum = T_OF(0);
            for (I64 i = starts[k] - first; i < starts[k + 1] - first; i++) sum = T_ADD(sum, room[i]);
            below[k] = sum;
        }
        BARRIER;
    }
}
