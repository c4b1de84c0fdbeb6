KERNEL columns(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const R own, const R coupling,
    const I64 nz, const I64 ny, const I64 nx, const I64 slabs, GLOBAL W* partial)
{
    $dots_begin
    SHARED(T, raw, $wide*($tall + $halo));
    SHARED(T, middle, $width*($tall + $halo));
    const I64 across = (nx + $last_column)/$width, tiles = across*((ny + $tall - 1)/($tall));
    const int tx = LOCAL_ID%$width, ty = LOCAL_ID/$width;
    for (I64 job = GROUP_ID; job < tiles*slabs; job += GROUPS) {
        const I64 tile = job%tiles, slab = job/tiles;
        const I64 left = tile%across*$width, top = tile/across*($tall);
        const I64 low = nz*slab/slabs, high = nz*(slab + 1)/slabs;
        T $sums;
        for (I64 z = low - $reach; z < high + $reach; z++) {
            for (int m = LOCAL_ID; m < $wide*($tall + $halo); m += GROUP) {
                const I64 column = left + m%$wide - $reach, row = top + m/$wide - $reach;
                const int inside = z >= 0 && z < nz && row >= 0 && row < ny && column >= 0 && column < nx;
                raw[m] = inside ? x[(z*ny + row)*nx + column] : T_OF(0);
            }
            BARRIER;
            for (int m = LOCAL_ID; m < $width*($tall + $halo); m += GROUP) {
                const int column = m%$width, row = m/$width;
                T sum = raw[row*$wide + column]; $along
                middle[m] = sum;
            }
            BARRIER;
            $shift $down
            const I64 plane = z - $reach, row = top + ty, column = left + tx;
            if (plane >= low && row < ny && column < nx) {
                const I64 i = (plane*ny + row)*nx + column;
                T sum = s0; $total
                const T v = T_ADD(T_SCALE(own, x[i]), T_SCALE(coupling, sum));
                y[i] = v; $dots_add
            }
        }
    }
    $dots_end
}
