KERNEL draw(GLOBAL const $unsigned* RESTRICT jumps, const $unsigned high, const $unsigned low, const $unsigned times_high,
    const $unsigned times_low, const $unsigned plus_high, const $unsigned plus_low, const I64 first, GLOBAL T* out,
    const I64 n)
{
    /* PCG64: x = A x + C in 128 bits; the bits of an output are those of both halves, rotated by the highest six. */
    $unsigned hi = high, lo = low;
    int begun = 0;
    FOR_EACH(i, n) {
        if (!begun)
            for (int bit = 0; bit < $bits; bit++) {
                if (!(((first + i + 1) >> bit) & 1)) continue;
                const $unsigned ah = jumps[4*bit], al = jumps[4*bit + 1], carried = lo*al + jumps[4*bit + 3];
                hi = $high_product(lo, al) + hi*al + lo*ah + jumps[4*bit + 2] + (carried < jumps[4*bit + 3]);
                lo = carried;
            }
        else {
            const $unsigned carried = lo*times_low + plus_low;
            hi = $high_product(lo, times_low) + hi*times_low + lo*times_high + plus_high + (carried < plus_low);
            lo = carried;
        }
        begun = 1;
        const $unsigned mixed = hi ^ lo, turn = hi >> 58;
        const $unsigned bits = (mixed >> turn) | (mixed << ((64 - turn) & 63));
        out[i] = T_FROM((R)((V)(bits >> 11)*(V)$unit), (R)0);
    }
}
