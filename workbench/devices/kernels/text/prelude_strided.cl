#define ITEMS_FROM(n, from) ((from) + GROUP_ID*GROUP + LOCAL_ID)
#define ITEMS_TO(n, to) (to)
#define ITEMS_STEP (GROUPS*GROUP)
