KERNEL block_columns(GLOBAL T* RESTRICT block, $arguments, const I64 columns, const I64 first, const I64 n)
{
    /* Column first + k of a row-major block vector and vector k, one way or the other; neighbours have neighbouring
       columns. */
    FOR_EACH(item, n*$count) {
        const I64 i = item/$count, k = item%$count;
        GLOBAL T* const vector = $choice;
        $copy;
    }
}
