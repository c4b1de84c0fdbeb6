KERNEL face_product(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, $arguments, const I64 run, GLOBAL W* partial,
    const I64 n)
{
    /* A work-item computes `run` rows along the farthest direction. */
    $dots_begin
    $cells
    $sides
    const int column = LOCAL_ID%$items*$wide, line = LOCAL_ID/$items;
    const INDEX across = (nx + $columns - 1)/$columns, tiles = across*((ny + $lines - 1)/$lines);
    const INDEX together = $together*(INDEX)run, jobs = tiles*((planes + together - 1)/together);
    for (INDEX job = GROUP_ID; job < jobs; job += GROUPS) {
        const INDEX tile = job%tiles, cx = tile%across*$columns + column, cy = $cy;
        const INDEX begin = job/tiles*together + $place*(INDEX)run;
        const INDEX end = begin + (INDEX)run < planes ? begin + (INDEX)run : planes;
        if (cx < nx && cy < ny && begin < end) {
            $near
            INDEX i = begin*far + cy*nx + cx;
            CELLS here = CELLS_AT(x, i), before = CELLS_AT(x, begin > 0 ? i - far : i);
            unsigned code = CODES_AT(i);
            $unroll for (INDEX plane = begin; plane < end; plane++) {
                $step
                *(GLOBAL CELLS*)(y + i) = sum;
                $dots
                before = here; here = after; code = above; i += far;
            }
        }
    }
    $dots_end
}
