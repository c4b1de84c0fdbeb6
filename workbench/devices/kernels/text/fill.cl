KERNEL fill(GLOBAL T* RESTRICT out, const R real, const R imaginary, const I64 n)
{
    FOR_EACH(i, n) out[i] = T_FROM(real, imaginary);
}
