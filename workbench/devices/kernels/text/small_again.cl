KERNEL small_again(GLOBAL W* state, GLOBAL const W* G, GLOBAL const W* spanned, GLOBAL const W* first, GLOBAL W* T_, GLOBAL W* rho, GLOBAL W* C, GLOBAL W* before, GLOBAL W* coupling)
{
    /* T = L^-H for the new G = L L^H, rho = L^H first, C = rho C, coupling = rho^H. */
    GLOBAL const W* of = G;
    $cholesky
    EACH(e) {
        T_[e] = INVERSE(e);
        before[e] = C[e];
        W sum = W_OF(0);
        for (int k = 0; k < $s; k++) sum = W_ADD(sum, W_MUL(ADJOINT(e/$s*$s + k), first[k*$s + e%$s]));
        rho[e] = sum;
    }
    BARRIER;
    EACH(e) {
        W sum = W_OF(0);
        if (W_REAL(state[ACTIVE + e%$s]) != 0)
            for (int k = 0; k < $s; k++) sum = W_ADD(sum, W_MUL(rho[e/$s*$s + k], before[k*$s + e%$s]));
        C[e] = sum;
        coupling[e] = W_CONJ(rho[e%$s*$s + e/$s]);
    }
    /* Not a number where there is no factor. */
    if (active && !ok)
        for (int e = LOCAL_ID; e < $s*$s; e += GROUP) C[e] = W_OF((largest - largest)/(largest - largest));
}
