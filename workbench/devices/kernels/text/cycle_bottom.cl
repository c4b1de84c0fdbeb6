KERNEL cycle_bottom(GLOBAL const T* RESTRICT inverse, GLOBAL const T* RESTRICT b, GLOBAL T* RESTRICT x, const I64 size)
{
    /* One group per row. */
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (I64 j = LOCAL_ID; j < size; j += GROUP)
        sum = W_ADD(sum, W_MUL(W_OF_T(inverse[GROUP_ID*size + j]), W_OF_T(b[j])));
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) x[GROUP_ID] = T_OF_W(room[0]);
}
