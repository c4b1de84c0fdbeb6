KERNEL take(GLOBAL const T* RESTRICT block, GLOBAL T* RESTRICT column, const I64 columns, const I64 k,
    const I64 n)
{
    EACH(i, n) column[i] = block[i*columns + k];
}
