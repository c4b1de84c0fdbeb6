KERNEL cycle_residual($matrix, GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT r,
    const I64 rows)
{
    FOR_EACH(i, rows) {
        $product
        r[i] = T_SUB(b[i], product);
    }
}
