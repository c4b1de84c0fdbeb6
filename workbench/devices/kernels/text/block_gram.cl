KERNEL block_gram(GLOBAL const T* RESTRICT x, GLOBAL const T* RESTRICT y, GLOBAL W* RESTRICT partial, const I64 n)
{
    /* A group takes $rows rows of both at once through local memory, while those that follow are on their way. */
    SHARED(T, of_x, $rows*$s);
    SHARED(T, of_y, $rows*$t);
    SHARED(W, room, GROUP);
    const int tile = LOCAL_ID%$tiles, phase = LOCAL_ID/$tiles;
    const int a = (tile/$across)*$side, c = (tile%$across)*$side;
    W sum[$side*$side];
    T next_x[$loads_x], next_y[$loads_y];
    for (int e = 0; e < $side*$side; e++) sum[e] = W_OF(0);
    I64 first = GROUP_ID*$rows;
    for (int m = 0; m < $loads_x; m++) {
        const int e = m*GROUP + LOCAL_ID;
        next_x[m] = ${within_x}first*$s + e < n*$s ? x[first*$s + e] : T_OF(0);
    }
    for (int m = 0; m < $loads_y; m++) {
        const int e = m*GROUP + LOCAL_ID;
        next_y[m] = ${within_y}first*$t + e < n*$t ? y[first*$t + e] : T_OF(0);
    }
    for (; first < n; first += GROUPS*$rows) {
        const I64 then = first + GROUPS*$rows;
        BARRIER;
        for (int m = 0; m < $loads_x; m++) {
            const int e = m*GROUP + LOCAL_ID;
            if (${within_x}1) of_x[e] = next_x[m];
        }
        for (int m = 0; m < $loads_y; m++) {
            const int e = m*GROUP + LOCAL_ID;
            if (${within_y}1) of_y[e] = next_y[m];
        }
        BARRIER;
        for (int m = 0; m < $loads_x; m++) {
            const int e = m*GROUP + LOCAL_ID;
            next_x[m] = ${within_x}then*$s + e < n*$s ? x[then*$s + e] : T_OF(0);
        }
        for (int m = 0; m < $loads_y; m++) {
            const int e = m*GROUP + LOCAL_ID;
            next_y[m] = ${within_y}then*$t + e < n*$t ? y[then*$t + e] : T_OF(0);
        }
        if (phase < $phases)
            for (int i = phase; i < $rows; i += $phases) {
                W left[$side], right[$side];
                for (int p = 0; p < $side; p++) left[p] = $conjugate(W_OF_T(of_x[i*$s + (a + p < $s ? a + p : $s - 1)]));
                for (int q = 0; q < $side; q++) right[q] = W_OF_T(of_y[i*$t + (c + q < $t ? c + q : $t - 1)]);
                for (int p = 0; p < $side; p++)
                    for (int q = 0; q < $side; q++)
                        sum[p*$side + q] = W_ADD(sum[p*$side + q], W_MUL(left[p], right[q]));
            }
    }
    for (int e = 0; e < $side*$side; e++) {
        BARRIER;
        room[LOCAL_ID] = sum[e];
        BARRIER;
        const int row = a + e/$side, column = c + e%$side;
        if (phase == 0 && row < $s && column < $t) {
            W total = room[tile];
            for (int k = 1; k < $phases; k++) total = W_ADD(total, room[k*$tiles + tile]);
            partial[(GROUP_ID*$s + row)*$t + column] = total;
        }
    }
}
