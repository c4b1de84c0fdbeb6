KERNEL cycle_pass(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const T* source, GLOBAL const T* other, GLOBAL T* target,
    const R one, const R two$more, const I64 rows)
{
    $begin
    FOR_EACH(row, rows) {
        T product = T_OF(0);
        for (INDEX j = starts[row]; j < starts[row + 1]; j++)
            product = T_ADD(product, T_MUL(data[j], source[indices[j]]));
        $result
    }
    $end
}
