typedef struct ALIGNED($bytes) { T of[$vector]; } PART;
#ifdef __CUDACC__
#define ROW_BARRIER __syncwarp((((1u << ($lanes - 1)) << 1) - 1) << (LOCAL_ID%32/$lanes*$lanes))
#define LONGEST (end - begin)
#else
#define ROW_BARRIER BARRIER
#define LONGEST $most
#endif
KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts$long_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$partial, const I64 rows)
{
    /* y = A x, or y + A x, for a CSR matrix and a row-major block vector: a work-item computes $vector columns of a row.
       `top` is the first row of the group. */
    GLOBAL const PART* of_x = (GLOBAL const PART*)x;
    GLOBAL PART* of_y = (GLOBAL PART*)y;
    SHARED(W, room, GROUP);
    $shared
    W dots[$vector], long_dots = W_OF(0);
    const int slot = LOCAL_ID/$lanes, k = LOCAL_ID%$lanes;
    for (int q = 0; q < $vector; q++) dots[q] = W_OF(0);
    $long_rows
    for (I64 top = GROUP_ID*$rows_per_group; top < rows; top += GROUPS*$rows_per_group) {
        const I64 row = top + slot;
        const INDEX begin = slot < $rows_per_group && row < rows ? starts[row] : 0;
        const INDEX there = slot < $rows_per_group && row < rows ? starts[row + 1] : 0;
        const int inside = slot < $rows_per_group && row < rows$short;
        const INDEX end = inside ? there : begin;
        PART sum;
        for (int q = 0; q < $vector; q++) sum.of[q] = T_OF(0);
        $entries
        if (inside$wanted) {
            $result
            of_y[row*$lanes + k] = sum;
        }
    }
    $finish
}
