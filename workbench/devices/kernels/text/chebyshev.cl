KERNEL chebyshev(GLOBAL const T* RESTRICT inverse, GLOBAL const T* RESTRICT r, GLOBAL const T* RESTRICT s, GLOBAL T* RESTRICT p, GLOBAL T* RESTRICT u, const R a, const R b, GLOBAL W* partial, const I64 n)
{
    $dots_begin
    EACH(i, n) { const T q = $direction; const T v = $iterate; p[i] = q; u[i] = v; $dots_add }
    $dots_end
}
