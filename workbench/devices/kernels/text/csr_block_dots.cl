for (int q = 0; q < $vector; q++) {
    BARRIER;
    room[LOCAL_ID] = inside ? W_DOT(mine[row*$lanes].of[q], sum.of[q]) : W_OF(0);
    BARRIER;
    for (int reach = $half; reach > 0; reach /= 2) {
        if (slot < reach && slot + reach < $rows_per_group) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach*$lanes]);
        BARRIER;
    }
    if (LOCAL_ID < $lanes) partial[GROUP_ID*$columns + k*$vector + q] = room[LOCAL_ID];
}
$of_long_rows
