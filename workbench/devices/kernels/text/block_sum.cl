KERNEL block_sum(GLOBAL const W* RESTRICT partial, GLOBAL W* RESTRICT total, const I64 parts, const I64 entries)
{
    EACH(e, entries) {
        W sum = W_OF(0);
        for (I64 k = 0; k < parts; k++) sum = W_ADD(sum, partial[k*entries + e]);
        total[e] = sum;
    }
}
