KERNEL runs(GLOBAL const T* RESTRICT w, GLOBAL const INDEX* RESTRICT bounds, GLOBAL W* RESTRICT parts, const I64 count)
{
    SHARED(W, room, GROUP);
    const int lane = LOCAL_ID%$lanes, runs_a_group = GROUP/$lanes;
    for (I64 first = GROUP_ID*runs_a_group; first < count; first += GROUPS*runs_a_group) {
        const I64 run = first + LOCAL_ID/$lanes;
        W sum = W_OF(0);
        if (run < count)
            for (INDEX i = bounds[run] + lane; i < bounds[run + 1]; i += $lanes) sum = W_ADD(sum, W_OF_T(w[i]));
        room[LOCAL_ID] = sum;
        BARRIER;
        for (int reach = $half_lanes; reach > 0; reach /= 2) {
            if (lane < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
            BARRIER;
        }
        if (lane == 0 && run < count) parts[run] = room[LOCAL_ID];
        BARRIER;
    }
}
