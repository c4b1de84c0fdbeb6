KERNEL scan_ends($given, GLOBAL const I64* sums, GLOBAL $ends* ends, const I64 n)
{
    /* ends[i + 1] = the sum of the first i + 1 values; every group adds those of the groups before it. */
    SHARED(I64, room, GROUP);
    I64 before = 0;
    for (I64 k = LOCAL_ID; k < GROUP_ID; k += GROUP) before += sums[k];
    room[LOCAL_ID] = before;
    BARRIER;
    for (int reach = GROUP/2; reach > 0; reach /= 2) {
        if (LOCAL_ID < reach) room[LOCAL_ID] += room[LOCAL_ID + reach];
        BARRIER;
    }
    before = room[0];
    BARRIER;
    const I64 high = n*(GROUP_ID + 1)/GROUPS;
    for (I64 from = n*GROUP_ID/GROUPS; from < high; from += GROUP) {
        const I64 i = from + LOCAL_ID;
        room[LOCAL_ID] = 0;
        if (i < high) room[LOCAL_ID] = $value;
        BARRIER;
        for (int reach = 1; reach < GROUP; reach *= 2) {
            const I64 other = LOCAL_ID >= reach ? room[LOCAL_ID - reach] : 0;
            BARRIER;
            room[LOCAL_ID] += other;
            BARRIER;
        }
        if (i < high) ends[i + 1] = ($ends)(before + room[LOCAL_ID]);
        before += room[GROUP - 1];
        BARRIER;
    }
    if (GROUP_ID == 0 && LOCAL_ID == 0) ends[0] = 0;
}
