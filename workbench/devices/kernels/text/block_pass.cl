KERNEL block_pass($arguments, GLOBAL const T* RESTRICT numbers, GLOBAL W* RESTRICT partial, const I64 n)
{
    /* A work-item takes column k of every $phases-th row of the rows of its group. */
    SHARED(W, room, GROUP);
    const int k = LOCAL_ID%$s, phase = LOCAL_ID/$s;
    const I64 low = n*GROUP_ID/GROUPS, high = n*(GROUP_ID + 1)/GROUPS;
    $begin
    if (phase < $phases)
        for (I64 i = low + phase; i < high; i += $phases) {
            const I64 e = i*$s + k;
            $row
        }
    $finish
}
