KERNEL compact(GLOBAL const INDEX* RESTRICT rows, GLOBAL const INDEX* RESTRICT starts,
    GLOBAL const INDEX* RESTRICT columns, GLOBAL const T* RESTRICT data, GLOBAL T* w, GLOBAL const W* RESTRICT coarse,
    const I64 count)
{
    FOR_EACH(k, count) {
        W v = W_OF_T(w[rows[k]]);
        for (INDEX j = starts[k]; j < starts[k + 1]; j++)
            v = W_SUB(v, W_MUL(W_OF_T(data[j]), coarse[columns[j]]));
        w[rows[k]] = T_OF_W(v);
    }
}
