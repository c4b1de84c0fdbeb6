#define FOR_EACH(i, n) for (I64 i = ITEMS_FROM(n, 0), i##_end = ITEMS_TO(n, n); i < i##_end; i += ITEMS_STEP)
#define W_DOT(a, b) W_MUL(W_CONJ(W_OF_T(a)), W_OF_T(b))
#define STORE_GROUP_SUMS(room, partial, sums) store_group_sums(room, partial, sums, GROUPS, GROUP_ID)
/* partial[k*groups + group] = sum over the group's items of room[k*GROUP + item]. */
DEVICE void store_group_sums(LOCAL W* room, GLOBAL W* partial, int sums, I64 groups, I64 group) {
    LOCAL W* strips = room + sums*GROUP;
    BARRIER;
    for (int j = LOCAL_ID; j < sums*STRIPS; j += GROUP) {
        const int first = (j/STRIPS)*GROUP + j%STRIPS;
        W sum = W_OF(0);
        for (int m = 0; m < GROUP; m += STRIPS) sum = W_ADD(sum, room[first + m]);
        strips[j] = sum;
    }
    BARRIER;
    for (int k = LOCAL_ID; k < sums; k += GROUP) {
        W sum = W_OF(0);
        for (int m = 0; m < STRIPS; m++) sum = W_ADD(sum, strips[k*STRIPS + m]);
        partial[k*groups + group] = sum;
    }
}
