KERNEL peaks(GLOBAL const W* RESTRICT r, GLOBAL W* RESTRICT partial, GLOBAL const I64* RESTRICT boxes, const I64 parts)
{
    /* The largest magnitude of part k of $parts equal parts of a box; parts: of all boxes. */
    SHARED(W, room, GROUP);
    for (I64 part = GROUP_ID; part < parts; part += GROUPS) {
        const I64 box = part/$parts, start = boxes[3*box], count = boxes[3*box + 1]*boxes[3*box + 2];
        const I64 low = start + count*(part%$parts)/$parts, high = start + count*(part%$parts + 1)/$parts;
        W most = 0;
        for (I64 i = low + LOCAL_ID; i < high; i += GROUP) most = fabs(r[i]) > most ? fabs(r[i]) : most;
        room[LOCAL_ID] = most;
        BARRIER;
        if (LOCAL_ID == 0) {
            for (int k = 1; k < GROUP; k++) most = room[k] > most ? room[k] : most;
            partial[part] = most;
        }
        BARRIER;
    }
}
