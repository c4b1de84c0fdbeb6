KERNEL cycle_sum(GLOBAL const W* RESTRICT a, GLOBAL W* RESTRICT partial, const I64 rows)
{
    SHARED(W, room, GROUP + STRIPS);
    W sum = W_OF(0);
    FOR_EACH(i, rows) sum = W_ADD(sum, a[i]);
    room[LOCAL_ID] = sum;
    STORE_GROUP_SUMS(room, partial, 1);
}
