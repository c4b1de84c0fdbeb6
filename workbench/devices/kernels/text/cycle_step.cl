KERNEL cycle_step(GLOBAL const W* numerator, const I64 above_count, GLOBAL const W* denominator,
    const I64 under_count, $vectors, const I64 rows)
{
    $divide
    FOR_EACH($row, rows) {
        $result
    }
}
