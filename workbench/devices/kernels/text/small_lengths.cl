KERNEL small_lengths(GLOBAL const W* state, GLOBAL const W* delta, GLOBAL const W* gamma, GLOBAL const W* rr, GLOBAL W* going, GLOBAL W* previous, GLOBAL W* alpha)
{
    /* The steps alpha = gamma/delta of columns whose residual is not zero. */
    const int j = LOCAL_ID;
    if (j < $s && W_REAL(state[STOPPED]) == 0) {
        const V d = W_REAL(delta[j]), g = W_REAL(gamma[j]);
        const int goes = W_REAL(state[ACTIVE + j]) != 0 && W_REAL(rr[j]) != 0;
        going[j] = W_OF((V)goes);
        previous[j] = W_OF(g);
        alpha[j] = W_OF(goes && d > 0 ? g/d : (V)0);
    }
}
