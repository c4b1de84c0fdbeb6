KERNEL curvature(GLOBAL const W* RESTRICT a, GLOBAL const W* RESTRICT b, GLOBAL W* partial, const I64 count)
{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (I64 k = LOCAL_ID; k < count; k += GROUP) sum = W_ADD(sum, W_MUL(W_CONJ(a[k]), b[k]));
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) partial[0] = W_SUB(partial[0], room[0]);
}
