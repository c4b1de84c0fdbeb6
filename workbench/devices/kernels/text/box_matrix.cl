KERNEL box_matrix($operator, GLOBAL const INDEX* RESTRICT labels,
    GLOBAL const INDEX* RESTRICT box_of, const I64 nz, const I64 ny, const I64 nx, const I64 kz, const I64 ky,
    const I64 kx, const I64 shift, const I64 size, const INDEX first, const int fill, GLOBAL I64* ends,
    GLOBAL INDEX* indices, GLOBAL T* data, const I64 parts)
{
    /* A work-item reads the box of its part. Counting: ends[part] = entries of its row of E, -1 for too many. The cells
       of boxes begin `shift` rows after those of A, of which there are `size`; `first` is added to the numbers of parts.
     */
    FOR_EACH(part, parts) {
        INDEX names[$most];
        T values[$most];
        int count = 1;
        names[0] = (INDEX)part;
        values[0] = T_OF(0);
        const I64 box = box_of[part];
        const I64 bz = box/(ky*kx), by = box/kx%ky, bx = box%kx;
        const I64 z1 = ((bz + 1)*nz + kz - 1)/kz, y1 = ((by + 1)*ny + ky - 1)/ky, x1 = ((bx + 1)*nx + kx - 1)/kx;
        for (I64 z = (bz*nz + kz - 1)/kz; z < z1; z++)
            for (I64 y = (by*ny + ky - 1)/ky; y < y1; y++)
                for (I64 x = (bx*nx + kx - 1)/kx; x < x1; x++) {
                    const I64 i = (z*ny + y)*nx + x + shift;
                    if (labels[i] != part) continue;
                    $own
                    $couplings
                }
        if (!fill)
            ends[part] = count;
        else
            for (int k = 0; k < count; k++) {
                indices[ends[part] + k] = names[k] + first;
                data[ends[part] + k] = values[k];
            }
    }
}
