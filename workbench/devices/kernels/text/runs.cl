KERNEL runs(GLOBAL const T* RESTRICT w, GLOBAL const INDEX* RESTRICT bounds, GLOBAL W* RESTRICT parts, const I64 count)
{
    FOR_EACH(run, count) {
        W sum = W_OF(0);
        const I64 end = bounds[run + 1];
        for (I64 i = bounds[run]; i < end; i++) sum = W_ADD(sum, W_OF_T(w[i]));
        parts[run] = sum;
    }
}
