KERNEL face_product(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, $arguments, GLOBAL W* partial, const I64 n)
{
    $dots_begin
    const I64 across = $farthest < n ? $farthest : n;
    const I64 pieces = ((n + across - 1)/across + $along_less_one)/$along;
    FOR_EACH(item, across*pieces) {
        const I64 piece = item/across;
        I64 i = item - piece*across + piece*$along*across;
        W before = i >= $farthest && i < n ? W_OF_T(x[i - $farthest]) : W_OF(0);
        W here = i < n ? W_OF_T(x[i]) : W_OF(0);
        int code = i < n ? codes[i] : 0;
        for (int step = 0; step < $along && i < n; step++) {
            const int inside = i + $farthest < n;
            const W after = inside ? W_OF_T(x[i + $farthest]) : W_OF(0);
            const int above = inside ? codes[i + $farthest] : $closed;
            $sum
            const T v = T_OF_W(sum);
            y[i] = v; $dots_add
            before = here; here = after; code = above; i += $farthest;
        }
    }
    $dots_end
}
