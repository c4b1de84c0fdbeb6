KERNEL nested_merge(GLOBAL const int* RESTRICT firsts, GLOBAL const int* RESTRICT phases, const I64 nz, const I64 ny,
    const I64 nx, const int fill, GLOBAL int* counts, GLOBAL const int* ends, GLOBAL int* merged, GLOBAL int* children,
    GLOBAL int* parents, GLOBAL int* ranks, const I64 boxes)
{
    /* A work-item merges the sorted lists of phases of at most eight boxes. Counting: counts[box] = merged parts. */
    const I64 my = (ny + 1)/2, mx = (nx + 1)/2;
    FOR_EACH(box, boxes) {
        int heads[8], tails[8];
        int lists = 0;
        const I64 cz = box/(my*mx), cy = box/mx%my, cx = box%mx;
        for (I64 z = 2*cz; z < 2*cz + 2 && z < nz; z++)
            for (I64 y = 2*cy; y < 2*cy + 2 && y < ny; y++)
                for (I64 x = 2*cx; x < 2*cx + 2 && x < nx; x++) {
                    const I64 inner = (z*ny + y)*nx + x;
                    heads[lists] = firsts[inner];
                    tails[lists] = firsts[inner + 1];
                    lists++;
                }
        int count = 0;
        for (;;) {
            int least = 0, any = 0;
            for (int k = 0; k < lists; k++)
                if (heads[k] < tails[k] && (!any || phases[heads[k]] < least)) {
                    least = phases[heads[k]];
                    any = 1;
                }
            if (!any) break;
            const int at = fill ? ends[box] + count : 0;
            int rank = 0;
            for (int k = 0; k < lists; k++)
                if (heads[k] < tails[k] && phases[heads[k]] == least) {
                    if (fill) {
                        parents[heads[k]] = at;
                        ranks[heads[k]] = rank;
                    }
                    rank++;
                    heads[k]++;
                }
            if (fill) {
                merged[at] = least;
                children[at] = rank;
            }
            count++;
        }
        if (!fill) counts[box] = count;
    }
}
