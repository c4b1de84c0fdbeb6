for (I64 l = GROUP_ID; l < longs; l += GROUPS) {
    /* The whole group shares a long row, $sharing work-items each column. */
    const I64 row = long_rows[l];
    const int column = LOCAL_ID%$columns;
    T sum = T_OF(0);
    if (LOCAL_ID < $sharing*$columns)
        for (INDEX j = starts[row] + LOCAL_ID/$columns; j < starts[row + 1]; j += $sharing)
            sum = T_ADD(sum, T_MUL(data[j], x[(I64)indices[j]*$columns + column]));
    room[LOCAL_ID] = W_OF_T(sum);
    BARRIER;
    if (LOCAL_ID < $columns) {
        for (int other = 1; other < $sharing; other++) sum = T_ADD(sum, T_OF_W(room[other*$columns + column]));
        $result
        $dots
        y[row*$columns + column] = sum;
    }
    BARRIER;
}
