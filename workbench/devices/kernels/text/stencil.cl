KERNEL stencil(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, GLOBAL const T* RESTRICT diagonal$bands$distances, GLOBAL W* partial, const I64 n)
{
    $dots_begin
    const I64 first = $farthest < n ? $farthest : n;
    const I64 last = n - first > first ? n - first : first;
    EACH_IN(i, n, first, last) { T v = T_MUL($diagonal_entry, x[i]); $inside y[i] = v; $dots_add }
    EACH_IN(i, n, 0, first) { T v = T_MUL($diagonal_entry, x[i]); $edge y[i] = v; $dots_add }
    EACH_IN(i, n, last, n) { T v = T_MUL($diagonal_entry, x[i]); $edge y[i] = v; $dots_add }
    $dots_end
}
