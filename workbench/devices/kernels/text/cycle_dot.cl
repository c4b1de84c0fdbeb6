KERNEL cycle_dot(GLOBAL const T* RESTRICT s, GLOBAL const T* RESTRICT z, GLOBAL W* RESTRICT partial, const I64 rows)
{
    SHARED(W, room, GROUP + STRIPS);
    W sum = W_OF(0);
    EACH(i, rows) sum = W_ADD(sum, W_DOT(s[i], z[i]));
    room[LOCAL_ID] = sum;
    LEAVE_SUMS(room, partial, 1);
}
