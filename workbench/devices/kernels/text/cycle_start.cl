KERNEL cycle_start($matrix, const R one, const R two, GLOBAL const T* RESTRICT b, GLOBAL T* RESTRICT x, const I64 rows)
{
    FOR_EACH(i, rows) {
        $product
        x[i] = T_SUB(T_SCALE(one, b[i]), T_SCALE(two, product));
    }
}
