KERNEL prolong(GLOBAL T* RESTRICT x, GLOBAL const INDEX* RESTRICT labels, GLOBAL const W* RESTRICT coarse,
    const V sign, const I64 n)
{
    /* x = x + sign Z a for piecewise constant Z: unknown i gets the entry of a (`coarse`) of its subdomain. */
    FOR_EACH(i, n) x[i] = T_OF_W(W_ADD(W_OF_T(x[i]), W_SCALE(sign, coarse[labels[i]])));
}
