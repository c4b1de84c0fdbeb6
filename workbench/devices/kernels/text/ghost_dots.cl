KERNEL ghost_dots(GLOBAL const T* RESTRICT x, GLOBAL const T* RESTRICT y, GLOBAL W* RESTRICT partial,
    const I64 before, const I64 own, const I64 n)
{
    $dots_begin
    FOR_EACH(i, n) {
        const I64 row = i < before ? i : i + own;
        const T v = y[row];
        $dots_add
    }
    $dots_end
}
