KERNEL face_restrict(GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT x, $arguments,
    GLOBAL const int* RESTRICT labels, GLOBAL const int* RESTRICT firsts, GLOBAL W* RESTRICT coarse,
    ${paired_arguments}const I64 run, const I64 own_layers, const I64 shift, const I64 n)
{
    /* A group has boxes side by side and `run` layers of them, a work-item a column of cells, of which it adds what it
       makes part by part. The cells of boxes begin `shift` rows after those of the vectors and of A. */
    SHARED(W, room, $sums*$most*GROUP);
    $dots_begin
    $cells
    $sides
    const int column = LOCAL_ID%$items*$wide, line = LOCAL_ID/$items;
    const INDEX kx = nx/$side, ky = ny/$deep, layers = (INDEX)own_layers, base = (INDEX)shift;
    const INDEX across = (nx + $columns - 1)/$columns, tiles = across*((ny + $lines - 1)/$lines);
    const INDEX jobs = tiles*((layers + (INDEX)run - 1)/(INDEX)run);
    for (INDEX job = GROUP_ID; job < jobs; job += GROUPS) {
        const INDEX tile = job%tiles, left_box = tile%across*($columns/$side), low_box = tile/across*($lines/$deep);
        const INDEX begin = job/tiles*(INDEX)run, end = begin + (INDEX)run < layers ? begin + (INDEX)run : layers;
        const INDEX cx = left_box*$side + column, cy = low_box*$deep + line;
        const int owns = line < $lines && cx < nx && cy < ny;
        $near
        INDEX i = owns ? base + begin*$side*far + cy*nx + cx : 0;
        CELLS here = CELLS_AT(x, i), before = CELLS_AT(x, owns && i >= far ? i - far : i);
        unsigned code = CODES_AT(i);
        for (INDEX layer = begin; layer < end; layer++) {
            if (owns) {
                const INDEX box = (layer*ky + cy/$deep)*kx + cx/$side;
                const int lowest = firsts[box], several = firsts[box + 1] - lowest > 1;
                T total = T_OF(0), whole = T_OF(0);
                if (several)
                    for (int k = 0; k < $sums*$most; k++) room[k*GROUP + LOCAL_ID] = W_OF(0);
                $unroll for (int step = 0; step < $side; step++) {
                    const CELLS given = CELLS_AT(b, i);
                    $step
                    $dots
                    if (several) {
                        $kept
                    } else {
                        $added
                    }
                    before = here; here = after; code = above; i += far;
                }
                if (!several) {
                    room[LOCAL_ID] = (W)total;
                    $store_whole
                }
            }
            BARRIER;
            for (int m = LOCAL_ID; m < $boxes*$most*$sums; m += GROUP) {
                const int k = m/$boxes%$most, which = m/($boxes*$most), x0 = m%$boxes%($columns/$side), y0 = m%$boxes/($columns/$side);
                const INDEX bx = left_box + x0, by = low_box + y0;
                if (bx < kx && by < ky) {
                    const INDEX box = (layer*ky + by)*kx + bx;
                    const int part = firsts[box] + k;
                    if (part < firsts[box + 1]) {
                        W sum = W_OF(0);
                        for (int j = 0; j < $deep; j++)
                            for (int c = 0; c < $side/$wide; c++)
                                sum += room[(which*$most + k)*GROUP + (y0*$deep + j)*$items + x0*($side/$wide) + c];
                        $result
                    }
                }
            }
            BARRIER;
        }
    }
    $dots_end
}
