KERNEL piece_gather(GLOBAL const T* RESTRICT v, GLOBAL const INDEX* RESTRICT unknowns, GLOBAL T* RESTRICT packed,
    const I64 n)
{
    FOR_EACH(i, n) packed[i] = v[unknowns[i]];
}
