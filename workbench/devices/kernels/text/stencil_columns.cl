KERNEL stencil(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, GLOBAL const T* RESTRICT diagonal$bands$distances, GLOBAL W* partial, const I64 n)
{
    $dots_begin
    const I64 across = $farthest < n ? $farthest : n;
    const I64 pieces = ((n + across - 1)/across + $along_less_one)/$along;
    FOR_EACH(item, across*pieces) {
        const I64 piece = item/across;
        I64 i = item - piece*across + piece*$along*across;
        T before = i >= $farthest && i < n ? x[i - $farthest] : T_OF(0), here = i < n ? x[i] : T_OF(0);
        T coupled = i >= $farthest && i < n ? $far_band[i] : T_OF(0);
        for (int step = 0; step < $along && i < n; step++) {
            const int inside = i + $farthest < n;
            const T after = inside ? x[i + $farthest] : T_OF(0), coupling = inside ? $far_band[i + $farthest] : T_OF(0);
            T v = T_MUL($diagonal_entry, here);
            v = T_ADD(T_ADD(v, T_MUL(coupled, before)), T_MUL(T_CONJ(coupling), after));
            $near
            y[i] = v; $dots_add
            before = here; here = after; coupled = coupling; i += $farthest;
        }
    }
    $dots_end
}
