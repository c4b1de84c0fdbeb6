KERNEL sweeps(GLOBAL const T* RESTRICT source, GLOBAL T* RESTRICT target, GLOBAL const T* RESTRICT right,
    GLOBAL const I64* RESTRICT boxes, GLOBAL const I64* RESTRICT tiles, $coefficients, const int times, const I64 jobs)
{
    /* A tile needs `times` points more on every side, at most $halo; they are computed by several groups. */
    SHARED(T, room, 2*$region*$region);
    T own[$points];
    int margin[$points];
    for (I64 job = GROUP_ID; job < jobs; job += GROUPS) {
        $place
        $begin
        $sweeps
        BARRIER;
    }
}
