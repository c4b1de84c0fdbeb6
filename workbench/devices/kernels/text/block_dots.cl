KERNEL block_dots(GLOBAL const T* RESTRICT x, GLOBAL const T* RESTRICT y, GLOBAL W* RESTRICT partial, const I64 n)
{
    SHARED(W, room, GROUP);
    const int k = LOCAL_ID%$s, phase = LOCAL_ID/$s;
    const I64 low = n*GROUP_ID/GROUPS, high = n*(GROUP_ID + 1)/GROUPS;
    W sum = W_OF(0);
    if (phase < $phases)
        for (I64 i = low + phase; i < high; i += $phases) sum = W_ADD(sum, W_MUL($conjugate(W_OF_T(x[i*$s + k])), W_OF_T(y[i*$s + k])));
    room[LOCAL_ID] = sum;
    BARRIER;
    if (phase == 0) {
        for (int m = 1; m < $phases; m++) sum = W_ADD(sum, room[m*$s + k]);
        partial[GROUP_ID*$s + k] = sum;
    }
}
