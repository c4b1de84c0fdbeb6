KERNEL cycle_leave(GLOBAL const INDEX* RESTRICT order, GLOBAL const R* RESTRICT scale, GLOBAL const T* RESTRICT x,
    GLOBAL W* RESTRICT solved, const I64 rows)
{
    FOR_EACH(i, rows) solved[order[i]] = W_SCALE((V)scale[i], W_OF_T(x[i]));
}
