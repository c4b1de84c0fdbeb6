KERNEL small_keep(GLOBAL W* state, GLOBAL W* rows, $arguments, const int capacity)
{
    /* A row of what the host reads of an iteration. The device stops at a row that may end a column, or the run. */
    SHARED(int, ends, 1);
    const int j = LOCAL_ID, active = W_REAL(state[STOPPED]) == 0, count = (int)W_REAL(state[COUNTED]);
    if (j == 0) ends[0] = count + 1 >= capacity;
    BARRIER;
    if (active && j < $s) {
        $keep
        const V r = W_REAL(rr[j]), g = W_REAL(gamma[j]);
        const int usual = r > W_REAL(state[ACTIVE + $s + j]) && r <= W_REAL(state[ACTIVE + 2*$s + j]) && g > 0;
        if ((W_REAL(state[ACTIVE + j]) != 0 && !usual) || ($broken)) ends[0] = 1;
    }
    BARRIER;
    if (active && j == 0) {
        state[COUNTED] = W_OF(count + 1);
        if (ends[0]) state[STOPPED] = W_OF(1);
    }
}
