KERNEL dense(GLOBAL const W* RESTRICT matrix, GLOBAL const W* RESTRICT a, GLOBAL W* RESTRICT solved,
    const I64 size)
{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    if (GROUP_ID < size)
        for (I64 j = LOCAL_ID; j < size; j += GROUP) sum = W_ADD(sum, W_MUL(matrix[GROUP_ID*size + j], a[j]));
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) solved[GROUP_ID] = room[0];
}
