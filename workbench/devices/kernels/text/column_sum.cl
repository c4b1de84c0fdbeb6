KERNEL column_sum(GLOBAL const T* RESTRICT vectors, GLOBAL T* RESTRICT x,
    GLOBAL const W* RESTRICT coarse, const V sign, const I64 count, const I64 n)
{
    FOR_EACH(i, n) {
        W v = W_OF(0);
        for (I64 k = 0; k < count; k++) v = W_ADD(v, W_MUL(coarse[k], W_OF_T(vectors[k*n + i])));
        x[i] = T_OF_W(W_ADD(W_OF_T(x[i]), W_SCALE(sign, v)));
    }
}
