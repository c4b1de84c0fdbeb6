KERNEL piece_combine(GLOBAL const T* z0, GLOBAL const T* z1, GLOBAL const T* z2, GLOBAL const T* z3,
    GLOBAL const T* RESTRICT weights, GLOBAL T* RESTRICT target, GLOBAL const INDEX* RESTRICT segments,
    GLOBAL const INDEX* RESTRICT bounds, GLOBAL const INDEX* RESTRICT first, GLOBAL const INDEX* RESTRICT pieces,
    GLOBAL const INDEX* RESTRICT locals, const int add, const I64 n)
{
    /* Unknown i gets the sum over the pieces that cover it, with a weight for each piece of each row. */
    FOR_EACH(i, n) {
        const INDEX segment = segments[i];
        T sum = add ? target[i] : T_OF(0);
        for (INDEX cover = first[segment]; cover < first[segment + 1]; cover++) {
            const I64 place = locals[cover] + (i - bounds[segment]);
            GLOBAL const T* w = weights + $rows*pieces[cover];
            sum = T_ADD(sum, T_MUL(w[0], z0[place]));
            sum = T_ADD(sum, T_MUL(w[1], z1[place]));
            sum = T_ADD(sum, T_MUL(w[2], z2[place]));
            sum = T_ADD(sum, T_MUL(w[3], z3[place]));
        }
        target[i] = sum;
    }
}
