KERNEL nested_first(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, GLOBAL const I64* RESTRICT ends,
    GLOBAL const INDEX* RESTRICT order, GLOBAL const INDEX* RESTRICT places, GLOBAL I64* RESTRICT begins,
    GLOBAL INDEX* RESTRICT columns, GLOBAL T* RESTRICT scale, GLOBAL T* RESTRICT found, const I64 rows)
{
    /* Rows stay where they are and get places of columns; per group: extremes of the diagonal and of sums of rows. */
    SHARED(T, room, GROUP);
    T low = 1e308, high = -1e308, highest = 0, largest = 0;
    FOR_EACH(i, rows) {
        const I64 first = ends[order[i]];
        T sum = 0, absolute = 0;
        for (I64 j = first; j < ends[order[i] + 1]; j++) {
            columns[j] = places[indices[j]];
            sum += data[j];
            absolute += fabs(data[j]);
        }
        begins[i] = first;
        scale[i] = 1/sqrt(data[first]);
        /* NaN stays. */
        if (data[first] < low || data[first] != data[first]) low = data[first];
        if (data[first] > high) high = data[first];
        if (fabs(sum) > highest) highest = fabs(sum);
        if (absolute > largest) largest = absolute;
    }
    $extremes
}
