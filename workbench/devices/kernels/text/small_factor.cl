KERNEL small_factor(GLOBAL W* state, GLOBAL const W* delta, GLOBAL const W* spanned, GLOBAL const W* C, GLOBAL W* half_, GLOBAL W* inverse, GLOBAL W* step)
{
    /* inverse = delta^-1 on the columns that are spanned, step = inverse C. */
    GLOBAL const W* of = delta;
    $cholesky
    EACH(e) half_[e] = INVERSE(e);
    BARRIER;
    EACH(e) {
        W sum = W_OF(0);
        for (int k = 0; k < $s; k++) sum = W_ADD(sum, W_MUL(half_[e/$s*$s + k], W_CONJ(half_[e%$s*$s + k])));
        inverse[e] = sum;
    }
    BARRIER;
    EACH(e) {
        W sum = W_OF(0);
        if (W_REAL(state[ACTIVE + e%$s]) != 0)
            for (int k = 0; k < $s; k++) sum = W_ADD(sum, W_MUL(inverse[e/$s*$s + k], C[k*$s + e%$s]));
        step[e] = sum;
    }
}
