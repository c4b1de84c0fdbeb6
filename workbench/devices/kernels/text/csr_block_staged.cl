for (INDEX first = begin; first < ROW_END; first += $chunk) {
    /* The work-items of a row read its next entries together, and each then takes all of them. */
    ROW_BARRIER;
    for (int m = k; m < $chunk; m += $lanes) {
        const INDEX j = first + m;
        entries[slot*$pitch + m] = j < end ? data[j] : T_OF(0);
        places[slot*$pitch + m] = first < end ? indices[j < end ? j : end - 1] : 0;
    }
    ROW_BARRIER;
    if (first < end)
        for (int m = 0; m < $chunk; m++) {
            const T a = entries[slot*$pitch + m];
            const PART v = mine[(I64)places[slot*$pitch + m]*$lanes];
            for (int q = 0; q < $vector; q++) sum.of[q] = T_ADD(sum.of[q], T_MUL(a, v.of[q]));
        }
}
