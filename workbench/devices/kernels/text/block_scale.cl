KERNEL block_scale(GLOBAL T* target, GLOBAL const T* base, GLOBAL const T* factor, GLOBAL const T* row, const I64 n)
{
    FOR_EACH(e, n) target[e] = T_ADD($start, T_MUL(factor[e], row[e%$s]));
}
