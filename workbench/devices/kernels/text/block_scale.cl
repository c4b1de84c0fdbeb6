KERNEL block_scale(GLOBAL T* target, GLOBAL const T* base, GLOBAL const T* factor, GLOBAL const W* row, GLOBAL const V* stopped, const I64 n)
{
    FOR_EACH(e, stopped[0] != 0 ? 0 : n) target[e] = $add($start, T_MUL(factor[e], T_OF_W(row[e%$s])));
}
