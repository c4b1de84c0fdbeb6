KERNEL wavefront(GLOBAL const T* RESTRICT west, GLOBAL const T* RESTRICT south, GLOBAL const T* RESTRICT inverse,
    const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial, const int width, const I64 rows,
    const I64 rows_per_block)
{
    SHARED(T, exchanged, 2*(GROUP + 2));
    $dots_begin
    T a[STRETCH], next_a[STRETCH], b[STRETCH], next_b[STRETCH], d[STRETCH], next_d[STRETCH], e[STRETCH], next_e[STRETCH], next_c[STRETCH], before, received;
    int ahead;
    const int j = LOCAL_ID;
    const I64 blocks = (rows + rows_per_block - 1)/rows_per_block;
    for (I64 block = GROUP_ID; block < blocks; block += GROUPS) {
        const I64 first = block*rows_per_block, left = rows - first;
        const int count = (int)(left < rows_per_block ? left : rows_per_block), last = count - 1, mine = j < count;
        const I64 base = (first + (mine ? j : 0))*width;
        const int steps = width + last;

        $forward

        $backward
    }
    $dots_end
}
