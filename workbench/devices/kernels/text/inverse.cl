KERNEL inverse(GLOBAL const T* RESTRICT diagonal, GLOBAL T* RESTRICT result, const I64 n)
{
    EACH(i, n) result[i] = T_DIV(T_OF(1), diagonal[i]);
}
