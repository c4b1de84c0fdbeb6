KERNEL cycle_bottom(GLOBAL const T* RESTRICT inverse, GLOBAL const T* RESTRICT b, $target,
    const I64 size)
{
    /* One group per row. */
    SHARED(W, room, GROUP);
    const I64 i = GROUP_ID;
    W sum = W_OF(0);
    for (I64 j = LOCAL_ID; j < size; j += GROUP) sum = W_ADD(sum, W_MUL(W_OF_T(inverse[i*size + j]), W_OF_T(b[j])));
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) {
        const T v = T_OF_W(room[0]);
        $store
    }
}
