KERNEL number_parts(GLOBAL const $phase* RESTRICT phase, const I64 nz, const I64 ny, const I64 nx, const I64 kz,
    const I64 ky, const I64 kx, const int fill, GLOBAL int* starts, GLOBAL int* labels, GLOBAL int* box_of,
    GLOBAL int* phase_of, GLOBAL int* sizes, const I64 boxes)
{
    /* A work-item reads its box. Counting: starts[box] = phases in it, -1 for too many; they are kept in order. */
    FOR_EACH(box, boxes) {
        int found[$most], cells[$most];
        int count = 0, latest = -1;
        const I64 bz = box/(ky*kx), by = box/kx%ky, bx = box%kx;
        const I64 z1 = ((bz + 1)*nz + kz - 1)/kz, y1 = ((by + 1)*ny + ky - 1)/ky, x1 = ((bx + 1)*nx + kx - 1)/kx;
        for (I64 z = (bz*nz + kz - 1)/kz; z < z1; z++)
            for (I64 y = (by*ny + ky - 1)/ky; y < y1; y++)
                for (I64 i = (z*ny + y)*nx + (bx*nx + kx - 1)/kx; i < (z*ny + y)*nx + x1 && count >= 0; i++) {
                    const int kind = phase[i];
                    if (kind == latest) continue;
                    latest = kind;
                    int at = 0;
                    while (at < count && found[at] < kind) at++;
                    if (at < count && found[at] == kind) continue;
                    if (count == $most) { count = -1; continue; }
                    for (int later = count; later > at; later--) found[later] = found[later - 1];
                    found[at] = kind;
                    count++;
                }
        if (!fill) { starts[box] = count; continue; }
        const int first = starts[box];
        for (int at = 0; at < count; at++) cells[at] = 0;
        for (I64 z = (bz*nz + kz - 1)/kz; z < z1; z++)
            for (I64 y = (by*ny + ky - 1)/ky; y < y1; y++)
                for (I64 i = (z*ny + y)*nx + (bx*nx + kx - 1)/kx; i < (z*ny + y)*nx + x1; i++) {
                    int at = 0;
                    while (found[at] != phase[i]) at++;
                    labels[i] = first + at;
                    cells[at]++;
                }
        for (int at = 0; at < count; at++) {
            box_of[first + at] = (int)box;
            phase_of[first + at] = found[at];
            sizes[first + at] = cells[at];
        }
    }
}
