KERNEL rank_sums(GLOBAL const W* RESTRICT partial, const I64 count, GLOBAL const W* RESTRICT ghosts,
    const I64 ghost_count, GLOBAL W* RESTRICT sums)
{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (I64 i = LOCAL_ID; i < count; i += GROUP) sum = W_ADD(sum, partial[GROUP_ID*count + i]);
    for (I64 i = LOCAL_ID; i < ghost_count; i += GROUP) sum = W_SUB(sum, ghosts[GROUP_ID*ghost_count + i]);
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) sums[GROUP_ID] = room[0];
}
