KERNEL nested_scale(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT columns, GLOBAL const I64* RESTRICT begins,
    GLOBAL const I64* RESTRICT ends, GLOBAL const INDEX* RESTRICT parents, GLOBAL const T* RESTRICT scale,
    GLOBAL const T* RESTRICT scale_below, const T root, GLOBAL $stored* RESTRICT scaled, GLOBAL INDEX* RESTRICT indices,
    GLOBAL $stored* RESTRICT weights, GLOBAL $stored* RESTRICT own, GLOBAL T* RESTRICT found, const I64 rows)
{
    /* The rows with unit diagonal, one behind the other; per group: the largest sum of |D^-1 E| of a row. */
    SHARED(T, room, GROUP);
    T highest = 0;
    FOR_EACH(i, rows) {
        const I64 first = begins[i] - ends[i];
        const T s = scale[i];
        T sum = 0;
        for (I64 j = ends[i]; j < ends[i + 1]; j++) {
            sum += fabs(data[first + j]);
            scaled[j] = ($stored)(data[first + j]*s*scale[columns[first + j]]);
            indices[j] = columns[first + j];
        }
        weights[i] = ($stored)(scale_below[parents[i]]/s);
        own[i] = ($stored)(root*s);
        if (sum*s*s > highest) highest = sum*s*s;
    }
    $extremes
}
