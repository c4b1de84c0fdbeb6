KERNEL term(GLOBAL const T* RESTRICT base, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$bands$distances$dots_arguments, const I64 n)
{
    $dots_begin
    const I64 bound = $bound < 0 ? 0 : $bound > n ? n : $bound;
    EACH_IN(i, n, $whole_rows) { T v = base[i]; $inside $store }
    EACH_IN(i, n, $edge_rows) { T v = base[i]; $edge $store }
    $dots_end
}
