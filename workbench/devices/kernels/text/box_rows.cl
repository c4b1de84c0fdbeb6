KERNEL rows(GLOBAL const T* RESTRICT w, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const R own,
    const R coupling, const I64 nx, GLOBAL W* partial, const I64 lines)
{
    /* y = own x + coupling S x: w holds the sums of x along z and y, and is summed here along x. A line is one row of
       nx cells; the first and the last `reach` cells of it lack neighbours. */
    $dots_begin
    const I64 first = $reach < nx ? $reach : nx, last = nx - $reach > first ? nx - $reach : first;
    FOR_EACH(line, lines) {
        const I64 at = line*nx;
        for (I64 i = 0; i < first; i++) { T sum = w[at + i]; $edge const T v = T_ADD(T_SCALE(own, x[at + i]), T_SCALE(coupling, sum)); y[at + i] = v; $dots_add }
        for (I64 i = first; i < last; i++) { T sum = w[at + i]; $inside const T v = T_ADD(T_SCALE(own, x[at + i]), T_SCALE(coupling, sum)); y[at + i] = v; $dots_add }
        for (I64 i = last; i < nx; i++) { T sum = w[at + i]; $edge const T v = T_ADD(T_SCALE(own, x[at + i]), T_SCALE(coupling, sum)); y[at + i] = v; $dots_add }
    }
    $dots_end
}
