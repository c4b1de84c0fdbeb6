KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, GLOBAL const INDEX* RESTRICT starts$part_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$result_arguments, const I64 rows)
{
    $dots_begin
    SHARED(T, lanes, GROUP);
    const int lane = LOCAL_ID%$lanes, rows_a_group = GROUP/$lanes;
    for (I64 top = GROUP_ID*rows_a_group; top < rows; top += GROUPS*rows_a_group) {
        const I64 row = top + LOCAL_ID/$lanes;
        T part = T_OF(0);
        if (row < rows)
            for (INDEX j = starts[row] + lane; j < $end_of_row; j += $lanes)
                part = T_ADD(part, T_MUL(data[j], x[$column]));
        lanes[LOCAL_ID] = part;
        BARRIER;
        for (int reach = $half_lanes; reach > 0; reach /= 2) {
            if (lane < reach) lanes[LOCAL_ID] = T_ADD(lanes[LOCAL_ID], lanes[LOCAL_ID + reach]);
            BARRIER;
        }
        if (lane == 0 && row < rows) {
            const T sum = lanes[LOCAL_ID];
            $result
        }
        BARRIER;
    }
    $dots_end
}
