KERNEL prolong_dots(GLOBAL T* RESTRICT x, GLOBAL const INDEX* RESTRICT labels, GLOBAL const W* RESTRICT coarse,
    GLOBAL const T* RESTRICT r, GLOBAL W* RESTRICT partial, const I64 n)
{
    $dots_begin
    FOR_EACH(i, n) {
        const T v = T_OF_W(W_ADD(W_OF_T(x[i]), coarse[labels[i]]));
        x[i] = v;
        $dots_add
    }
    $dots_end
}
