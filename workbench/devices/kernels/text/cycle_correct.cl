KERNEL cycle_correct(GLOBAL const INDEX* RESTRICT parents, GLOBAL const R* RESTRICT weights,
    GLOBAL const T* RESTRICT below, GLOBAL T* RESTRICT x, const I64 rows)
{
    FOR_EACH(i, rows) x[i] = T_ADD(x[i], T_SCALE(weights[i], below[parents[i]]));
}
