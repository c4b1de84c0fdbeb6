KERNEL cycle_step(GLOBAL const W* numerator, GLOBAL const W* denominator, const I64 count,
    $vectors, const I64 rows)
{
    $divide
    FOR_EACH($row, rows) {
        $result
    }
}
