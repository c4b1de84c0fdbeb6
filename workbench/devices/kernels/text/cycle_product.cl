T product = $own;
$unroll for (int k = 0; k < $width; k++) {
    const INDEX j = indices[k*rows + i];
    product = T_ADD(product, T_MUL(data[k*rows + i], $other));
}
for (INDEX m = more[i]; m < more[i + 1]; m++) {
    const INDEX j = more_indices[m];
    product = T_ADD(product, T_MUL(more_data[m], $other));
}
