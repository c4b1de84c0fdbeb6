KERNEL block_gram(GLOBAL const T* RESTRICT x, GLOBAL const T* RESTRICT y, GLOBAL W* RESTRICT partial, const I64 n)
{
    SHARED(W, room, GROUP);
    const int tile = LOCAL_ID%$tiles, phase = LOCAL_ID/$tiles;
    const int a = (tile/$across)*$side, c = (tile%$across)*$side;
    const I64 low = n*GROUP_ID/GROUPS, high = n*(GROUP_ID + 1)/GROUPS;
    W sum[$side*$side];
    for (int e = 0; e < $side*$side; e++) sum[e] = W_OF(0);
    if (phase < $phases)
        for (I64 i = low + phase; i < high; i += $phases) {
            W left[$side], right[$side];
            for (int p = 0; p < $side; p++) left[p] = $conjugate(W_OF_T(x[i*$s + (a + p < $s ? a + p : $s - 1)]));
            for (int q = 0; q < $side; q++) right[q] = W_OF_T(y[i*$t + (c + q < $t ? c + q : $t - 1)]);
            for (int p = 0; p < $side; p++)
                for (int q = 0; q < $side; q++)
                    sum[p*$side + q] = W_ADD(sum[p*$side + q], W_MUL(left[p], right[q]));
        }
    for (int e = 0; e < $side*$side; e++) {
        room[LOCAL_ID] = sum[e];
        BARRIER;
        const int row = a + e/$side, column = c + e%$side;
        if (phase == 0 && row < $s && column < $t) {
            W total = room[tile];
            for (int k = 1; k < $phases; k++) total = W_ADD(total, room[k*$tiles + tile]);
            partial[(GROUP_ID*$s + row)*$t + column] = total;
        }
        BARRIER;
    }
}
