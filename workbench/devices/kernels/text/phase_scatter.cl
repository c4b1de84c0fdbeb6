KERNEL phase_scatter(GLOBAL const I64* RESTRICT places, GLOBAL const int* RESTRICT values, GLOBAL int* RESTRICT phase,
    const I64 n)
{
    FOR_EACH(k, n) phase[places[k]] = values[k];
}
