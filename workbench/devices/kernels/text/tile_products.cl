const int whole = to - from <= $per_item*GROUP;
if (whole) {
    _Pragma("unroll") for (int m = 0; m < $per_item; m++) {
        const INDEX j = from + m*GROUP + LOCAL_ID;
        if (j < to) products[j - from] = T_MUL(data[j], x[columns[j]]);
    }
} else {
    T part = T_OF(0);
    for (INDEX j = from + LOCAL_ID; j < to; j += GROUP) part = T_ADD(part, T_MUL(data[j], x[columns[j]]));
    products[LOCAL_ID] = part;
}
BARRIER;
