KERNEL small_norms(GLOBAL const W* state, GLOBAL const W* C, ${F}GLOBAL W* rr, GLOBAL W* gamma)
{
    /* gamma = ||c_j||^2 and rr = c_j^H F c_j, or gamma, for the columns of C. */
    const int j = LOCAL_ID;
    if (j < $s && W_REAL(state[STOPPED]) == 0) {
        V g = 0, r = 0;
        for (int k = 0; k < $s; k++) {
            const W c = C[k*$s + j];
            g += W_REAL(W_MUL(W_CONJ(c), c));
            $squares
        }
        gamma[j] = W_OF(g);
        rr[j] = W_OF($measured);
    }
}
