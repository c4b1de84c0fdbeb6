$grid_barrier
KERNEL sweeps(GLOBAL T* even, GLOBAL T* odd, GLOBAL const T* RESTRICT right, GLOBAL const I64* RESTRICT boxes,
    GLOBAL const I64* RESTRICT tiles, $coefficients, GLOBAL unsigned* arrivals, const int all)
{
    /* One tile per group, all groups at once: after every $halo sweeps they exchange the borders of their tiles. */
    SHARED(T, room, 2*$region*$region);
    T own[$points];
    int margin[$points];
    const I64 job = GROUP_ID;
    $place
    $begin
    for (int done = 0, pass = 0; done < all; done += $halo, pass++) {
        /* Not RESTRICT: the read-only cache would miss what other groups have written. */
        GLOBAL const T* const source = pass%2 ? odd : even;
        GLOBAL T* const target = pass%2 ? even : odd;
        const int times = all - done < $halo ? all - done : $halo;
        $sweeps
        if (done + $halo < all) grid_barrier(arrivals);
    }
}
