KERNEL block_gram(GLOBAL const T* RESTRICT x, GLOBAL const T* RESTRICT y, GLOBAL W* RESTRICT partial, const I64 n)
{
    /* A group takes $rows rows of both at once through local memory, while those that follow are on their way. */
    SHARED(W, room, $room);
    SHARED(T, of_y, $rows*$t);
    LOCAL T* of_x = (LOCAL T*)room;
    const int tile = LOCAL_ID%$tiles, phase = LOCAL_ID/$tiles;
    const int a = (tile/$across)*$side, c = (tile%$across)*$side;
    W sum[$side*$side];
    T next_x[$loads_x], next_y[$loads_y];
    for (int e = 0; e < $side*$side; e++) sum[e] = W_OF(0);
    I64 first = GROUP_ID*$rows;
    $fetch
    while (first < n) {
        BARRIER;
        $put
        BARRIER;
        first += GROUPS*$rows;
        $fetch
        if (phase < $phases)
            for (int i = phase; i < $rows; i += $phases) {
                W left[$side], right[$side];
                for (int p = 0; p < $side; p++) left[p] = $conjugate(W_OF_T(of_x[i*$s + $of_a]));
                for (int q = 0; q < $side; q++) right[q] = W_OF_T(of_y[i*$t + $of_c]);
                for (int p = 0; p < $side; p++)
                    for (int q = 0; q < $side; q++)
                        sum[p*$side + q] = W_ADD(sum[p*$side + q], W_MUL(left[p], right[q]));
            }
    }
    for (int p = 0; p < $side; p++) {
        /* Of row p of every tile, the sums over all phases, in two steps. */
        BARRIER;
        for (int q = 0; q < $side; q++) room[q*GROUP + LOCAL_ID] = sum[p*$side + q];
        BARRIER;
        for (int e = LOCAL_ID; e < $strips*$side*$tiles; e += GROUP) {
            const int first = e/($strips*$tiles)*GROUP + e%($strips*$tiles);
            W total = room[first];
            for (int k = $strips; k < $phases - e/$tiles%$strips; k += $strips) total = W_ADD(total, room[first + k*$tiles]);
            room[first] = total;
        }
        BARRIER;
        for (int e = LOCAL_ID; e < $side*$tiles; e += GROUP) {
            const int of = e%$tiles, row = of/$across*$side + p, column = of%$across*$side + e/$tiles;
            W total = room[e/$tiles*GROUP + of];
            for (int k = 1; k < $strips; k++) total = W_ADD(total, room[e/$tiles*GROUP + k*$tiles + of]);
            if (row < $s && column < $t) partial[(GROUP_ID*$s + row)*$t + column] = total;
        }
    }
}
