/* The numbers and codes of neighbouring cells in x, which a work-item reads at once. */
typedef struct ALIGNED($bytes) { T v[$wide]; } CELLS;
#undef CELLS_AT
#undef CODES_AT
#define CELLS_AT(x, i) (*(GLOBAL const CELLS*)((x) + (i)))
#define CODES_AT(i) ((unsigned)*(GLOBAL const $word*)(codes + (i)))
