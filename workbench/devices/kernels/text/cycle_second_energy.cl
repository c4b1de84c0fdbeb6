KERNEL cycle_second_energy($matrix, GLOBAL const T* RESTRICT z, GLOBAL const T* RESTRICT r, GLOBAL const T* RESTRICT p,
    GLOBAL const T* RESTRICT s, GLOBAL W* partial, const I64 rows)
{
    SHARED(W, room, 4*(GROUP + STRIPS));
    W zs = W_OF(0), ez = W_OF(0), zr = W_OF(0), pr = W_OF(0);
    FOR_EACH(i, rows) {
        $product
        zs = W_ADD(zs, W_DOT(z[i], s[i])); ez = W_ADD(ez, W_DOT(z[i], product));
        zr = W_ADD(zr, W_DOT(z[i], r[i])); pr = W_ADD(pr, W_DOT(p[i], r[i]));
    }
    room[LOCAL_ID] = zs;
    room[GROUP + LOCAL_ID] = ez;
    room[2*GROUP + LOCAL_ID] = zr;
    room[3*GROUP + LOCAL_ID] = pr;
    STORE_GROUP_SUMS(room, partial + 2*GROUPS, 4);
}
