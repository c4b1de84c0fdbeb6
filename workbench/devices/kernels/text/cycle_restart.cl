KERNEL cycle_restart($matrix, const R one, const R two, GLOBAL const W* RESTRICT partial, const I64 count,
    GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT s, GLOBAL T* RESTRICT r, GLOBAL T* RESTRICT x, const I64 rows)
{
    $totals
    const T alpha = T_OF_W(first);
    FOR_EACH(i, rows) {
        const T here = T_SUB(b[i], T_MUL(alpha, s[i]));
        $product
        r[i] = here;
        x[i] = T_SUB(T_SCALE(one, here), T_SCALE(two, product));
    }
}
