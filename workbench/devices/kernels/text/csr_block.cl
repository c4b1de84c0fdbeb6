#ifdef __CUDACC__
#define ROW_BARRIER __syncwarp((((1u << ($lanes - 1)) << 1) - 1) << (LOCAL_ID%32/$lanes*$lanes))
#define ROW_END end
#define FOUR_AT_ONCE _Pragma("unroll 4")
#else
#define ROW_BARRIER BARRIER
#define ROW_END (begin + $most)
#define FOUR_AT_ONCE
#endif
KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts$long_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$partial, const I64 rows)
{
    /* y = A x, or y + A x, for a CSR matrix and a row-major block vector: a work-item computes $vector columns of a row,
       and a group $rows_per_group rows. */
    typedef struct ALIGNED($bytes) { T of[$vector]; } PART;
    $shared
    const int slot = LOCAL_ID/$lanes, k = LOCAL_ID%$lanes;
    GLOBAL const PART* mine = (GLOBAL const PART*)x + k;
    $long_rows
    const I64 row = GROUP_ID*$rows_per_group + slot;
    const int own = slot < $rows_per_group && row < rows;
    const INDEX begin = own ? starts[row] : 0, there = own ? starts[row + 1] : 0;
    const int inside = own$short;
    const INDEX end = inside ? there : begin;
    PART sum;
    for (int q = 0; q < $vector; q++) sum.of[q] = T_OF(0);
    $entries
    if (inside$wanted) {
        $added
        ((GLOBAL PART*)y)[row*$lanes + k] = sum;
    }
    $finish
}
#undef ROW_BARRIER
#undef ROW_END
#undef FOUR_AT_ONCE
