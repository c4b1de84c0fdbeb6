/* Every group adds the partial sums itself: a kernel of its own for two numbers would cost more. */
SHARED(W, room, 2*GROUP);
W above = W_OF(0), under = W_OF(0);
for (I64 k = LOCAL_ID; k < above_count; k += GROUP) above = W_ADD(above, numerator[k]);
for (I64 k = LOCAL_ID; k < under_count; k += GROUP) under = W_ADD(under, denominator[under_count + k]);
room[LOCAL_ID] = above;
room[GROUP + LOCAL_ID] = under;
BARRIER;
for (int reach = GROUP/2; reach > 0; reach /= 2) {
    if (LOCAL_ID < reach) {
        room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
        room[GROUP + LOCAL_ID] = W_ADD(room[GROUP + LOCAL_ID], room[GROUP + LOCAL_ID + reach]);
    }
    BARRIER;
}
const T c_$quotient = W_REAL(room[GROUP]) > 0 ? T_OF_W(W_DIV(room[0], room[GROUP])) : T_OF(0);
