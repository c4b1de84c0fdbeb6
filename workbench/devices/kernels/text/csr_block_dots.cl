for (int q = 0; q < $vector; q++) {
    BARRIER;
    room[LOCAL_ID] = inside ? W_DOT(x[row*$columns + k*$vector + q], sum.of[q]) : W_OF(0);
    BARRIER;
    if (LOCAL_ID < $lanes) {
        W total = room[k];
        for (int m = 1; m < $rows_per_group; m++) total = W_ADD(total, room[m*$lanes + k]);
        partial[GROUP_ID*$columns + k*$vector + q] = total;
    }
}
$of_long_rows
