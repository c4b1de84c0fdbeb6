KERNEL face_restrict(GLOBAL const T* RESTRICT b, GLOBAL const T* RESTRICT x, $arguments,
    GLOBAL const INDEX* RESTRICT labels, GLOBAL const INDEX* RESTRICT firsts, GLOBAL W* RESTRICT coarse,
    const I64 across, const I64 tiles, const I64 layers, const I64 run, const I64 nx, const I64 ny, const I64 n)
{
    /* A group has boxes side by side and a run of their layers, a work-item a column of cells, of which it adds the
       values part by part. Numbers along the farthest direction are read ahead. */
    SHARED(W, room, $most*GROUP);
    $steps
    const int column = LOCAL_ID%$columns, line = LOCAL_ID/$columns;
    const INDEX wide = (INDEX)nx, tall = (INDEX)ny, kx = wide/$side, ky = tall/$deep;
    const INDEX jobs = (INDEX)(tiles*((layers + run - 1)/run));
    for (INDEX job = GROUP_ID; job < jobs; job += GROUPS) {
        const INDEX tile = job%(INDEX)tiles, left = tile%(INDEX)across*$columns, low = tile/(INDEX)across*$lines;
        const INDEX begin = job/(INDEX)tiles*(INDEX)run;
        const INDEX end = begin + (INDEX)run < (INDEX)layers ? begin + (INDEX)run : (INDEX)layers;
        const INDEX cx = left + column, cy = low + line;
        const int owns = line < $lines && cx < wide && cy < tall;
        const INDEX start = owns ? begin*$side*$farthest + cy*wide + cx : 0;
        T before = owns && start >= $farthest ? x[start - $farthest] : T_OF(0), here = x[start];
        int code = codes[start];
        for (INDEX layer = begin; layer < end; layer++) {
            if (owns) {
                const INDEX box = (layer*ky + cy/$deep)*kx + cx/$side, lowest = firsts[box];
                const int several = firsts[box + 1] - lowest > 1;
                T one = T_OF(0);
                if (several)
                    $unroll for (int k = 0; k < $most; k++) room[k*GROUP + LOCAL_ID] = W_OF(0);
                for (int bite = 0; bite < $side; bite += $ahead) {
                    const INDEX from = (layer*$side + bite)*$farthest + cy*wide + cx;
                    T next[$ahead], right[$ahead];
                    int read[$ahead];
                    $unroll for (int k = 0; k < $ahead; k++) {
                        const INDEX i = from + k*$farthest, j = i + $farthest;
                        next[k] = j < rows ? x[j] : T_OF(0);
                        read[k] = j < rows ? codes[j] : $closed;
                        right[k] = b[i];
                    }
                    $unroll for (int k = 0; k < $ahead; k++) {
                        const INDEX i = from + k*$farthest;
                        const T after = next[k];
                        const int above = read[k];
                        $sum
                        sum = right[k] - sum;
                        if (several) room[(labels[i] - lowest)*GROUP + LOCAL_ID] += (W)sum;
                        else one += sum;
                        before = here; here = after; code = above;
                    }
                }
                if (!several) room[LOCAL_ID] = (W)one;
            }
            BARRIER;
            for (int m = LOCAL_ID; m < $boxes*$most; m += GROUP) {
                const int k = m/$boxes, x0 = m%$boxes%($columns/$side), y0 = m%$boxes/($columns/$side);
                const INDEX bx = left/$side + x0, by = low/$deep + y0;
                if (bx < kx && by < ky) {
                    const INDEX box = (layer*ky + by)*kx + bx, part = firsts[box] + k;
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
}
