KERNEL term(GLOBAL const T* RESTRICT base, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, $arguments,
    GLOBAL const T* RESTRICT scale$dots_arguments, const I64 n)
{
    $dots_begin
    const I64 bound = $bound < 0 ? 0 : $bound > n ? n : $bound;
    EACH_IN(i, n, $whole_rows) { $code T sum = T_OF(0); $inside const T v = $result; y[i] = v; $dots_add }
    EACH_IN(i, n, $edge_rows) { $code T sum = T_OF(0); $edge const T v = $result; y[i] = v; $dots_add }
    $dots_end
}
