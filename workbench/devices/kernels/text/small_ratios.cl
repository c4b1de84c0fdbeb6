KERNEL small_ratios(GLOBAL const W* state, GLOBAL const W* going, GLOBAL const W* previous, GLOBAL const W* gamma, GLOBAL W* beta)
{
    /* beta = gamma/previous. */
    const int j = LOCAL_ID;
    if (j < $s && W_REAL(state[STOPPED]) == 0) {
        const V p = W_REAL(previous[j]);
        beta[j] = W_OF(W_REAL(going[j]) != 0 && p != 0 ? W_REAL(gamma[j])/p : (V)0);
    }
}
