#define FOR_EACH(i, n) FOR_EACH_IN(i, n, 0, n)
#define FOR_EACH_IN(i, n, from, to) for (I64 i = (from) + GROUP_ID*GROUP + LOCAL_ID; i < (to); i += GROUPS*GROUP)
