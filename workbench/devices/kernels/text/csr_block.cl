#ifdef __CUDACC__
#define WARP_BARRIER __syncwarp()
#define MORE(n) __any_sync(0xffffffffu, (n) < longest)
#else
#define WARP_BARRIER BARRIER
#define MORE(n) ((n) < $most)
#endif
KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts$long_arguments, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y$partial, const I64 rows)
{
    /* y = A x, or y + A x, for a CSR matrix and a row-major block vector. A work-item computes $vector columns in
       $pieces places of $each rows. The 32 of a warp together read $chunk entries of each of their $warp_rows rows, while
       those before are multiplied. */
    typedef struct ALIGNED($bytes) { T of[$vector]; } PART;
    typedef struct ALIGNED(16) { T of[4]; } ENTRIES;
    typedef struct ALIGNED(16) { INDEX of[4]; } PLACES;
    SHARED(T, entry_room, $entry_room);
    SHARED(INDEX, place_room, $rows*$place_pitch);
    SHARED(INDEX, ends, 2*$rows);
    $shared
    const int warp = LOCAL_ID/32, item = LOCAL_ID%32, slot = item/$lanes, k = item%$lanes;
    GLOBAL const PART* mine = (GLOBAL const PART*)x;
    $long_rows
    const I64 top = GROUP_ID*$rows + warp*$warp_rows;
    LOCAL INDEX* low = ends + 2*warp*$warp_rows;
    LOCAL INDEX* high = low + $warp_rows;
    LOCAL T* entries = entry_room + warp*$warp_rows*$entry_pitch;
    LOCAL INDEX* places = place_room + warp*$warp_rows*$place_pitch;
    if (item < $warp_rows) {
        /* A row that is not computed here ends before it begins. */
        const I64 row = top + item;
        const INDEX begin = row < rows ? starts[row] : 0, end = row < rows ? starts[row + 1] : -1;
        low[item] = begin;
        high[item] = $end;
    }
    WARP_BARRIER;
    PART sum[$each][$pieces];
    T entry[$loads];
    INDEX place[$loads], n = 0, longest = 0;
    for (int p = 0; p < $each; p++) {
        const int r = p*$slots + slot;
        longest = high[r] - low[r] > longest ? high[r] - low[r] : longest;
        for (int c = 0; c < $pieces; c++)
            for (int q = 0; q < $vector; q++) sum[p][c].of[q] = T_OF(0);
    }
    $fetch
    while (MORE(n)) {
        WARP_BARRIER;
        for (int f = 0; f < $loads; f++) {
            const int e = f*32 + item;
            entries[e/$chunk*$entry_pitch + e%$chunk] = entry[f];
            places[e/$chunk*$place_pitch + e%$chunk] = place[f];
        }
        WARP_BARRIER;
        n += $chunk;
        $fetch
        for (int m = 0; m < $chunk; m += 4)
            for (int p = 0; p < $each; p++) {
                const int r = p*$slots + slot;
                const ENTRIES a = *(LOCAL const ENTRIES*)(entries + r*$entry_pitch + m);
                const PLACES j = *(LOCAL const PLACES*)(places + r*$place_pitch + m);
                for (int g = 0; g < 4; g++)
                    if (j.of[g] >= 0)
                        for (int c = 0; c < $pieces; c++) {
                            const PART v = mine[(I64)j.of[g]*$parts + $part];
                            for (int q = 0; q < $vector; q++)
                                sum[p][c].of[q] = T_ADD(sum[p][c].of[q], T_MUL(a.of[g], v.of[q]));
                        }
            }
    }
    for (int p = 0; p < $each; p++) {
        const int r = p*$slots + slot;
        for (int c = 0; c < $pieces; c++)
            if ($inside) {
                GLOBAL PART* const result = (GLOBAL PART*)y + (top + r)*$parts + k + c*$lanes;
                $added
                *result = sum[p][c];
            }
    }
    $finish
}
#undef WARP_BARRIER
#undef MORE
