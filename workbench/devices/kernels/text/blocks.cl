KERNEL blocks(
    $arguments
    const I64 block, const I64 n)
{
    $dots_begin
    const I64 count = (n + block - 1)/block;
    FOR_EACH(k, count) {
        const I64 first = k*block, end = first + block < n ? first + block : n;
        for (I64 i = first; i < end; i++) {
            $forward
        }
        for (I64 i = end - 1; i >= first; i--) {
            $backward
        }
    }
    $dots_end
}
