KERNEL nested_dense(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT columns, GLOBAL const I64* RESTRICT begins,
    GLOBAL const I64* RESTRICT ends, GLOBAL const T* RESTRICT scale, GLOBAL T* RESTRICT matrix, GLOBAL T* RESTRICT sums,
    const I64 rows)
{
    /* A dense matrix of zeros gets the entries of the last level, scaled to a unit diagonal; sums: of its rows, unscaled. */
    FOR_EACH(i, rows) {
        T sum = 0;
        for (I64 j = begins[i]; j < begins[i] + ends[i + 1] - ends[i]; j++) {
            matrix[i*rows + columns[j]] = data[j]*scale[i]*scale[columns[j]];
            sum += data[j];
        }
        sums[i] = sum;
    }
}
