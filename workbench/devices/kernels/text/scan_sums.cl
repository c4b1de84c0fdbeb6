KERNEL scan_sums($given, GLOBAL I64* sums, const I64 n)
{
    /* The sum of the values of each group's run, the least and the largest. */
    SHARED(I64, room, 3*GROUP);
    I64 sum = 0, least = 0, most = 0;
    for (I64 i = n*GROUP_ID/GROUPS + LOCAL_ID; i < n*(GROUP_ID + 1)/GROUPS; i += GROUP) {
        const I64 value = $value;
        sum += value;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    room[LOCAL_ID] = sum;
    room[GROUP + LOCAL_ID] = least;
    room[2*GROUP + LOCAL_ID] = most;
    BARRIER;
    for (int reach = GROUP/2; reach > 0; reach /= 2) {
        if (LOCAL_ID < reach) {
            const int other = LOCAL_ID + reach;
            room[LOCAL_ID] += room[other];
            if (room[GROUP + other] < room[GROUP + LOCAL_ID]) room[GROUP + LOCAL_ID] = room[GROUP + other];
            if (room[2*GROUP + other] > room[2*GROUP + LOCAL_ID]) room[2*GROUP + LOCAL_ID] = room[2*GROUP + other];
        }
        BARRIER;
    }
    if (LOCAL_ID == 0)
        for (int k = 0; k < 3; k++) sums[k*GROUPS + GROUP_ID] = room[k*GROUP];
}
