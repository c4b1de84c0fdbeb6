KERNEL coarse_pair(GLOBAL const W* RESTRICT a, GLOBAL const W* RESTRICT b, GLOBAL W* partial, const I64 first,
    const I64 count, const I64 size)
{
    SHARED(W, room, GROUP + STRIPS);
    W sum = W_OF(0);
    FOR_EACH(k, size) sum = W_ADD(sum, W_MUL(W_CONJ(a[k]), b[k]));
    room[LOCAL_ID] = sum;
    store_group_sums(room, partial + first, 1, count, GROUP_ID);
}
