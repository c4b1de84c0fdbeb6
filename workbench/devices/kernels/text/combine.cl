KERNEL combine(GLOBAL const W* RESTRICT parts, GLOBAL const INDEX* RESTRICT order,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL W* RESTRICT coarse)
{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (INDEX k = starts[GROUP_ID] + LOCAL_ID; k < starts[GROUP_ID + 1]; k += GROUP)
        sum = W_ADD(sum, parts[order[k]]);
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) coarse[GROUP_ID] = room[0];
}
