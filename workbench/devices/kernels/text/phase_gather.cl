KERNEL phase_gather(GLOBAL const int* RESTRICT phase, GLOBAL const I64* RESTRICT places, GLOBAL int* RESTRICT values,
    const I64 n)
{
    FOR_EACH(k, n) values[k] = phase[places[k]];
}
