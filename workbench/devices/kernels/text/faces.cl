KERNEL faces(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, $arguments, GLOBAL W* partial, const I64 n)
{
    $dots_begin
    const I64 first = $farthest < n ? $farthest : n;
    const I64 last = n - first > first ? n - first : first;
    EACH_IN(i, n, first, last) { const W here = W_OF_T(x[i]); W sum = $wall; $inside const T v = T_OF_W(sum); y[i] = v; $dots_add }
    EACH_IN(i, n, 0, first) { const W here = W_OF_T(x[i]); W sum = $wall; $edge const T v = T_OF_W(sum); y[i] = v; $dots_add }
    EACH_IN(i, n, last, n) { const W here = W_OF_T(x[i]); W sum = $wall; $edge const T v = T_OF_W(sum); y[i] = v; $dots_add }
    $dots_end
}
