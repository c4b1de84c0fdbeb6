KERNEL cycle_smooth($matrix, const R one, const R two, GLOBAL const T* RESTRICT r, $given$target,
    const I64 rows)
{
    FOR_EACH(i, rows) {
        $product
        const T v = T_ADD(x[i], T_SUB(T_SCALE(one, r[i]), T_SCALE(two, product)));
        $store
    }
}
