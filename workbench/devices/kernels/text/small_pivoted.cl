KERNEL small_pivoted(GLOBAL W* state, GLOBAL const W* G, GLOBAL const W* spanned, GLOBAL W* T_, GLOBAL W* first, GLOBAL W* pivot)
{
    /* T = L^-H for G = L L^H with pivots, and L^H; the device halts where columns depend on others. */
    GLOBAL const W* of = G;
    $cholesky
    EACH(e) {
        T_[e] = INVERSE(e);
        first[e] = ADJOINT(e);
    }
    if (ok && j < $s) pivot[j] = W_OF(least_pivot/most_pivot);
}
