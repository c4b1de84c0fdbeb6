KERNEL block_scale(GLOBAL T* target, GLOBAL const T* base, GLOBAL const T* factor, GLOBAL const T* row, const I64 n)
{
    EACH(i, n)
        for (int k = 0; k < $s; k++) {
            const I64 e = i*$s + k;
            target[e] = T_ADD($start, T_MUL(factor[e], row[k]));
        }
}
