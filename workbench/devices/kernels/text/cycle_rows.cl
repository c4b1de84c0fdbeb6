KERNEL cycle_rows(GLOBAL const T* RESTRICT entries, GLOBAL const INDEX* RESTRICT columns,
    GLOBAL const I64* RESTRICT ends, GLOBAL T* RESTRICT data, GLOBAL INDEX* RESTRICT indices, GLOBAL const INDEX* RESTRICT more,
    GLOBAL T* RESTRICT more_data, GLOBAL INDEX* RESTRICT more_indices, const I64 rows)
{
    /* Couplings of a row: the first $width at k*rows + i, filled up with zeros, and the others behind more[i]. */
    FOR_EACH(i, rows) {
        I64 k = 0;
        for (I64 j = ends[i]; j < ends[i + 1]; j++) {
            if (columns[j] == i) continue;
            if (k < $width) {
                data[k*rows + i] = entries[j];
                indices[k*rows + i] = columns[j];
            } else {
                more_data[more[i] + k - $width] = entries[j];
                more_indices[more[i] + k - $width] = columns[j];
            }
            k++;
        }
        for (; k < $width; k++) {
            data[k*rows + i] = T_OF(0);
            indices[k*rows + i] = (INDEX)i;
        }
    }
}
