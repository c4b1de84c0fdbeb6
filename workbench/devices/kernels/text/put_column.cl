KERNEL put(GLOBAL const T* RESTRICT column, GLOBAL T* RESTRICT block, const I64 columns, const I64 k,
    const I64 n)
{
    EACH(i, n) block[i*columns + k] = column[i];
}
