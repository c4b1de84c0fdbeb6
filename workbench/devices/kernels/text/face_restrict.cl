KERNEL face_restrict(GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT x, $arguments,
    GLOBAL const INDEX* RESTRICT labels, GLOBAL const INDEX* RESTRICT firsts, GLOBAL W* RESTRICT coarse,
    const I64 across, const I64 jobs, const I64 nx, const I64 ny, const I64 n)
{
    /* A group has boxes side by side, a work-item a column of one, and adds what it makes part by part. */
    SHARED(W, room, $most*GROUP);
    const int column = LOCAL_ID%$columns, line = LOCAL_ID/$columns;
    const I64 kx = nx/$side, ky = ny/$deep, down = (ky + $lines/$deep - 1)/($lines/$deep);
    for (I64 job = GROUP_ID; job < jobs; job += GROUPS) {
        const I64 left = job%across*$columns, low = job/across%down*$lines, layer = job/(across*down);
        const I64 cx = left + column, cy = low + line;
        $unroll for (int k = 0; k < $most; k++) room[k*GROUP + LOCAL_ID] = W_OF(0);
        if (line < $lines && cx < nx && cy < ny) {
            const I64 box = (layer*ky + cy/$deep)*kx + cx/$side;
            const INDEX lowest = firsts[box];
            const int several = firsts[box + 1] - lowest > 1;
            I64 i = (layer*$side*ny + cy)*nx + cx;
            W before = i >= $farthest ? W_OF_T(x[i - $farthest]) : W_OF(0), here = W_OF_T(x[i]);
            int code = codes[i];
            W one = W_OF(0);
            $unroll for (int step = 0; step < $side; step++) {
                const int inside = i + $farthest < n;
                const W after = inside ? W_OF_T(x[i + $farthest]) : W_OF(0);
                const int above = inside ? codes[i + $farthest] : $closed;
                $sum
                sum = W_OF_T(b[i]) - sum;
                if (several) room[(labels[i] - lowest)*GROUP + LOCAL_ID] += sum;
                else one += sum;
                before = here; here = after; code = above; i += $farthest;
            }
            if (!several) room[LOCAL_ID] = one;
        }
        BARRIER;
        for (int m = LOCAL_ID; m < $boxes*$most; m += GROUP) {
            const int k = m/$boxes, x0 = m%$boxes%($columns/$side), y0 = m%$boxes/($columns/$side);
            const I64 bx = left/$side + x0, by = low/$deep + y0;
            if (bx < kx && by < ky) {
                const I64 box = (layer*ky + by)*kx + bx;
                const INDEX part = firsts[box] + k;
                if (part < firsts[box + 1]) {
                    W sum = W_OF(0);
                    for (int j = 0; j < $deep; j++)
                        for (int c = 0; c < $side; c++)
                            sum += room[k*GROUP + (y0*$deep + j)*$columns + x0*$side + c];
                    coarse[part] = sum;
                }
            }
        }
        BARRIER;
    }
}
