KERNEL cycle_enter(GLOBAL const W* RESTRICT partial, const I64 count, GLOBAL const INDEX* RESTRICT order,
    GLOBAL const R* RESTRICT scale, GLOBAL const W* RESTRICT a, GLOBAL T* RESTRICT b, const I64 rows)
{
    /* b[i] = scale[i] (a[order[i]] - mean), scale being D^-1/2; count is 0 where no mean is subtracted. */
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (I64 k = LOCAL_ID; k < count; k += GROUP) sum = W_ADD(sum, partial[k]);
    room[LOCAL_ID] = sum;
    $tree_sum
    const W mean = W_SCALE((V)1/(V)rows, room[0]);
    FOR_EACH(i, rows) b[i] = T_OF_W(W_SCALE((V)scale[i], W_SUB(a[order[i]], mean)));
}
