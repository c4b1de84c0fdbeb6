#define LOW(n) ((n)*GROUP_ID/GROUPS)
#define HIGH(n) ((n)*(GROUP_ID + 1)/GROUPS)
#define ITEMS_FROM(n, from) (LOW(n) > (from) ? LOW(n) : (from))
#define ITEMS_TO(n, to) (HIGH(n) < (to) ? HIGH(n) : (to))
#define ITEMS_STEP 1
