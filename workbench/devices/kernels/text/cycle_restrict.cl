KERNEL cycle_restrict(GLOBAL const INDEX* RESTRICT starts, GLOBAL const R* RESTRICT weights,
    GLOBAL const T* RESTRICT r, GLOBAL T* RESTRICT below, const I64 parents)
{
    FOR_EACH(parent, parents) {
        T sum = T_OF(0);
        for (INDEX i = starts[parent]; i < starts[parent + 1]; i++) sum = T_ADD(sum, T_SCALE(weights[i], r[i]));
        below[parent] = sum;
    }
}
