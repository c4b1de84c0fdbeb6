FOUR_AT_ONCE for (INDEX j = begin; j < end; j++) {
    const T a = data[j];
    const PART v = mine[(I64)indices[j]*$lanes];
    for (int q = 0; q < $vector; q++) sum.of[q] = T_ADD(sum.of[q], T_MUL(a, v.of[q]));
}
