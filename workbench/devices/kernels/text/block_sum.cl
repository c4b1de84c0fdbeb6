KERNEL block_sum(GLOBAL const W* RESTRICT partial, GLOBAL const V* RESTRICT stopped, $totals, const I64 parts, const I64 entries)
{
    /* A group sums $width neighbouring entries, of which every work-item takes a share of the parts. */
    SHARED(W, room, GROUP);
    const I64 e = GROUP_ID*$width + LOCAL_ID%$width;
    const int active = stopped[0] == 0;
    W sum = W_OF(0);
    if (e < entries && active)
        for (I64 k = LOCAL_ID/$width; k < parts; k += $phases) sum = W_ADD(sum, partial[k*entries + e]);
    room[LOCAL_ID] = sum;
    BARRIER;
    for (int reach = $phases/2; reach > 0; reach /= 2) {
        if (LOCAL_ID/$width < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach*$width]);
        BARRIER;
    }
    if (LOCAL_ID < $width && e < entries && active) {
        const I64 one = entries/$count;
        $store
    }
}
