KERNEL box_sums(GLOBAL const T* RESTRICT w, GLOBAL const INDEX* RESTRICT labels, GLOBAL const INDEX* RESTRICT firsts,
    GLOBAL W* RESTRICT coarse, const I64 nz, const I64 ny, const I64 nx, const I64 kz, const I64 ky, const I64 kx,
    const int most, const I64 boxes)
{
    /* Work-items take the rows of a box in turn; a box with several parts is read once for each. `most`: parts of a
       box, at most, so that all work-items meet at the barriers. */
    $room
    const int place = LOCAL_ID%$items_per_box, boxes_per_group = GROUP/$items_per_box;
    for (I64 first = GROUP_ID*boxes_per_group; first < boxes; first += GROUPS*boxes_per_group) {
        const I64 box = first + LOCAL_ID/$items_per_box;
        const int inside = box < boxes;
        const I64 bz = box/(ky*kx), by = box/kx%ky, bx = box%kx;
        const I64 z0 = (bz*nz + kz - 1)/kz, z1 = ((bz + 1)*nz + kz - 1)/kz;
        const I64 y0 = (by*ny + ky - 1)/ky, y1 = ((by + 1)*ny + ky - 1)/ky;
        const I64 x0 = (bx*nx + kx - 1)/kx, x1 = ((bx + 1)*nx + kx - 1)/kx;
        const I64 rows = (z1 - z0)*(y1 - y0);
        const INDEX lowest = inside ? firsts[box] : 0, highest = inside ? firsts[box + 1] : 0;
        for (int k = 0; k < most; k++) {
            const INDEX part = lowest + k;
            W sum = W_OF(0);
            if (part < highest)
                for (I64 row = place; row < rows; row += $items_per_box) {
                    const I64 start = ((z0 + row/(y1 - y0))*ny + y0 + row%(y1 - y0))*nx;
                    if (highest - lowest == 1)
                        for (I64 x = x0; x < x1; x++) sum = W_ADD(sum, W_OF_T(w[start + x]));
                    else
                        for (I64 x = x0; x < x1; x++)
                            if (labels[start + x] == part) sum = W_ADD(sum, W_OF_T(w[start + x]));
                }
            $add_shared
            if (place == 0 && part < highest) coarse[part] = sum;
        }
    }
}
