KERNEL block_pass($arguments, GLOBAL W* RESTRICT partial, const I64 n)
{
    /* A work-item takes column k_ of every $phases-th row of the rows of its group. */
    SHARED(W, room, GROUP);
    const int k_ = LOCAL_ID%$s, phase = LOCAL_ID/$s;
    const I64 low = n*GROUP_ID/GROUPS, high = n*(GROUP_ID + 1)/GROUPS;
    $begin
    if (phase < $phases)
        for (I64 row = low + phase; row < high; row += $phases) {
            $row
        }
    $finish
}
