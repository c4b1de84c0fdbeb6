KERNEL scaled_band(GLOBAL const T* RESTRICT low, GLOBAL const T* RESTRICT inverse, GLOBAL T* RESTRICT band,
    const I64 stride, const I64 n)
{
    EACH(i, n) band[i] = i < stride ? T_OF(0) : T_MUL(low[i], inverse[i - stride]);
}
