KERNEL cycle_combine(GLOBAL const W* RESTRICT partial, const I64 count, GLOBAL const T* RESTRICT p$other,
    $target, const I64 rows)
{
    $totals
    $coefficients
    FOR_EACH(i, rows) {
        const T v = $value;
        $store
    }
}
