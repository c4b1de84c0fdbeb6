KERNEL runs(GLOBAL const T* RESTRICT w, GLOBAL const INDEX* RESTRICT bounds, GLOBAL W* RESTRICT parts, const I64 count)
{
    SHARED(W, room, GROUP);
    const int place = LOCAL_ID%$items_per_run, runs_per_group = GROUP/$items_per_run;
    for (I64 first = GROUP_ID*runs_per_group; first < count; first += GROUPS*runs_per_group) {
        const I64 run = first + LOCAL_ID/$items_per_run;
        W sum = W_OF(0);
        if (run < count)
            for (INDEX i = bounds[run] + place; i < bounds[run + 1]; i += $items_per_run) sum = W_ADD(sum, W_OF_T(w[i]));
        room[LOCAL_ID] = sum;
        BARRIER;
        for (int reach = $half; reach > 0; reach /= 2) {
            if (place < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
            BARRIER;
        }
        if (place == 0 && run < count) parts[run] = room[LOCAL_ID];
        BARRIER;
    }
}
