#define LOW(n) ((n)*GROUP_ID/GROUPS)
#define HIGH(n) ((n)*(GROUP_ID + 1)/GROUPS)
#define FOR_EACH(i, n) FOR_EACH_IN(i, n, 0, n)
#define FOR_EACH_IN(i, n, from, to) \
    for (I64 i = LOW(n) > (from) ? LOW(n) : (from), i##_end = HIGH(n) < (to) ? HIGH(n) : (to); i < i##_end; i++)
