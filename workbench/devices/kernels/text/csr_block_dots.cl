/* The sums of columns over the rows of the group, in two steps. */
BARRIER;
for (int c = 0; c < $pieces; c++)
    for (int q = 0; q < $vector; q++) {
        W dot = W_OF(0);
        for (int p = 0; p < $each; p++) {
            const int r = p*$slots + slot;
            if ($inside) dot = W_ADD(dot, W_DOT(mine[(top + r)*$parts + k + c*$lanes].of[q], sum[p][c].of[q]));
        }
        room[LOCAL_ID/$lanes*$width + (k + c*$lanes)*$vector + q] = dot;
    }
BARRIER;
if (LOCAL_ID < $strips) {
    W total = room[LOCAL_ID];
    for (int e = LOCAL_ID + $strips; e < $sums; e += $strips) total = W_ADD(total, room[e]);
    room[LOCAL_ID] = total;
}
BARRIER;
if (LOCAL_ID < $columns) {
    W total = room[LOCAL_ID];
    for (int e = LOCAL_ID + $width; e < $strips; e += $width) total = W_ADD(total, room[e]);
    $of_long_rows
    partial[GROUP_ID*$columns + LOCAL_ID] = total;
}
