KERNEL piece_products(GLOBAL const T* z0, GLOBAL const T* z1, GLOBAL const T* z2, GLOBAL const T* z3, $panel,
    GLOBAL const INDEX* RESTRICT sources, GLOBAL const INDEX* RESTRICT locals, GLOBAL const INDEX* RESTRICT starts,
    GLOBAL const INDEX* RESTRICT lengths, GLOBAL W* RESTRICT parts, const I64 count)
{
    /* parts[4 run + row] = (z_row, v) over a run of consecutive unknowns, which $lanes work-items share. */
    SHARED(W, room, GROUP);
    const int place = LOCAL_ID%$lanes, runs_per_group = GROUP/$lanes;
    for (I64 begin = GROUP_ID*runs_per_group; begin < count; begin += GROUPS*runs_per_group) {
        const I64 run = begin + LOCAL_ID/$lanes;
        W sum[$rows];
        for (int row = 0; row < $rows; row++) sum[row] = W_OF(0);
        if (run < count) {
            const INDEX source = sources[run], n = lengths[run];
            GLOBAL const T* v = $choice;
            v += starts[run];
            const I64 packed = locals[run];
            for (INDEX i = place; i < n; i += $lanes) {
                sum[0] = W_ADD(sum[0], W_DOT(z0[packed + i], v[i]));
                sum[1] = W_ADD(sum[1], W_DOT(z1[packed + i], v[i]));
                sum[2] = W_ADD(sum[2], W_DOT(z2[packed + i], v[i]));
                sum[3] = W_ADD(sum[3], W_DOT(z3[packed + i], v[i]));
            }
        }
        for (int row = 0; row < $rows; row++) {
            room[LOCAL_ID] = sum[row];
            BARRIER;
            for (int reach = $half; reach > 0; reach /= 2) {
                if (place < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
                BARRIER;
            }
            if (place == 0 && run < count) parts[$rows*run + row] = room[LOCAL_ID];
            BARRIER;
        }
    }
}
