/* Every group adds the partial sums itself: a kernel of its own for some numbers would cost more. */
SHARED(W, room, $sums*GROUP);
for (int k = 0; k < $sums; k++) {
    W sum = W_OF(0);
    for (I64 j = LOCAL_ID; j < count; j += GROUP) sum = W_ADD(sum, partial[k*count + j]);
    room[k*GROUP + LOCAL_ID] = sum;
}
BARRIER;
for (int reach = GROUP/2; reach > 0; reach /= 2) {
    if (LOCAL_ID < reach)
        for (int k = 0; k < $sums; k++)
            room[k*GROUP + LOCAL_ID] = W_ADD(room[k*GROUP + LOCAL_ID], room[k*GROUP + LOCAL_ID + reach]);
    BARRIER;
}
const W pb = room[0], ps = room[GROUP], first = W_REAL(ps) > 0 ? W_DIV(pb, ps) : W_OF(0);
