KERNEL block_combine(GLOBAL T* target, GLOBAL const T* base, GLOBAL const T* factor, GLOBAL const W* small, GLOBAL const V* stopped, const I64 n)
{
    SHARED(T, room, $rows*$s);
    SHARED(T, matrix, $kept);
    const int a = (LOCAL_ID/$across)*$side, c = (LOCAL_ID%$across)*$side;
    const I64 end = stopped[0] != 0 ? 0 : n;
    for (int e = LOCAL_ID; e < $kept; e += GROUP) matrix[e] = T_OF_W(small[e]);
    for (I64 first = GROUP_ID*$rows; first < end; first += GROUPS*$rows) {
        const int count = n - first < $rows ? (int)(n - first) : $rows;
        for (int e = LOCAL_ID; e < count*$s; e += GROUP) room[e] = factor[first*$s + e];
        BARRIER;
        if (a < count) {
            T sum[$side*$side];
            for (int p = 0; p < $side; p++)
                for (int q = 0; q < $side; q++) {
                    const I64 row = first + (a + p < count ? a + p : count - 1);
                    sum[p*$side + q] = $start;
                }
            for (int k = 0; k < $s; k++) {
                T left[$side], right[$side];
                for (int p = 0; p < $side; p++) left[p] = room[(a + p < count ? a + p : count - 1)*$s + k];
                for (int q = 0; q < $side; q++) {
                    const int e = k*$t + (c + q < $t ? c + q : $t - 1);
                    right[q] = $entry;
                }
                for (int p = 0; p < $side; p++)
                    for (int q = 0; q < $side; q++)
                        sum[p*$side + q] = $add(sum[p*$side + q], T_MUL(left[p], right[q]));
            }
            for (int p = 0; p < $side; p++)
                for (int q = 0; q < $side; q++)
                    if (a + p < count && c + q < $t) target[(first + a + p)*$t + c + q] = sum[p*$side + q];
        }
        BARRIER;
    }
}
