KERNEL column_dots(GLOBAL const T* RESTRICT vectors, GLOBAL const T* RESTRICT w,
    GLOBAL W* RESTRICT parts, const I64 count, const I64 n)
{
    SHARED(W, room, GROUP);
    const I64 chunks = GROUPS/count, chunk = GROUP_ID/count, k = GROUP_ID%count;
    const I64 low = n*chunk/chunks, high = n*(chunk + 1)/chunks;
    GLOBAL const T* z = vectors + k*n;
    W sum = W_OF(0);
    for (I64 i = low + LOCAL_ID; i < high; i += GROUP) sum = W_ADD(sum, W_DOT(z[i], w[i]));
    room[LOCAL_ID] = sum;
    $tree_sum
    if (LOCAL_ID == 0) parts[k*chunks + chunk] = room[0];
}
