for (int q = 0; q < $vector; q++) {
    BARRIER;
    room[LOCAL_ID] = dots[q];
    BARRIER;
    if (LOCAL_ID < $lanes) {
        W total = room[k];
        for (int m = 1; m < $rows_per_group; m++) total = W_ADD(total, room[m*$lanes + k]);
        partial[GROUP_ID*$columns + k*$vector + q] = total;
    }
}
BARRIER;
if (LOCAL_ID < $columns) partial[GROUP_ID*$columns + LOCAL_ID] = W_ADD(partial[GROUP_ID*$columns + LOCAL_ID], long_dots);
