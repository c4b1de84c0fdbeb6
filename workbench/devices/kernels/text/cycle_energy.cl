KERNEL cycle_energy($matrix, GLOBAL const T* RESTRICT p, GLOBAL const T* RESTRICT b, GLOBAL T* RESTRICT s,
    GLOBAL W* partial, const I64 rows)
{
    SHARED(W, room, 2*(GROUP + STRIPS));
    W pb = W_OF(0), ps = W_OF(0);
    FOR_EACH(i, rows) {
        $product
        s[i] = product;
        pb = W_ADD(pb, W_DOT(p[i], b[i])); ps = W_ADD(ps, W_DOT(p[i], product));
    }
    room[LOCAL_ID] = pb;
    room[GROUP + LOCAL_ID] = ps;
    STORE_GROUP_SUMS(room, partial, 2);
}
