KERNEL band(GLOBAL const W* RESTRICT factor, GLOBAL const INDEX* RESTRICT order, GLOBAL const W* RESTRICT a,
    GLOBAL W* RESTRICT solved, GLOBAL W* s, GLOBAL W* t, const I64 size, const I64 width, const I64 count)
{
    for (I64 i = LOCAL_ID; i < size; i += GROUP) s[i] = a[order[i]];
    for (I64 i = size + LOCAL_ID; i < count; i += GROUP) solved[i] = W_OF(0);
    BARRIER;
    for (I64 j = 0; j < size; j++) {
        GLOBAL const W* column = factor + j*(width + 1);
        const W y = W_DIV(s[j], column[0]);
        const I64 below = j + width < size ? width : size - 1 - j;
        for (I64 k = 1 + LOCAL_ID; k <= below; k += GROUP) s[j + k] = W_SUB(s[j + k], W_MUL(column[k], y));
        if (LOCAL_ID == 0) t[j] = y;
        BARRIER;
    }
    for (I64 j = size - 1; j >= 0; j--) {
        const W y = W_DIV(t[j], W_CONJ(factor[j*(width + 1)]));
        const I64 above = j < width ? j : width;
        for (I64 k = 1 + LOCAL_ID; k <= above; k += GROUP)
            t[j - k] = W_SUB(t[j - k], W_MUL(W_CONJ(factor[(j - k)*(width + 1) + k]), y));
        if (LOCAL_ID == 0) solved[order[j]] = y;
        BARRIER;
    }
}
