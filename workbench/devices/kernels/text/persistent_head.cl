#undef RESTRICT
#define RESTRICT
#undef GROUPS
#define GROUPS groups_of_step
#undef GROUP_ID
#define GROUP_ID group_of_step
#undef GLOBAL_ID
#define GLOBAL_ID (group_of_step*GROUP + LOCAL_ID)
/* All steps reuse one arena of shared memory, which would add up if each declared its own. */
extern __shared__ __align__(16) char arena[];
#undef SHARED
#define SHARED(type, name, size) \
    type* const name = (type*)(arena + taken); taken += ((size)*sizeof(type) + 15)/16*16
#define WORDS $words
DEVICE I64 least(I64 a, I64 b) { return a < b ? a : b; }
$grid_barrier
