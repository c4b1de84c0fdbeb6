KERNEL nested_sum(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT columns, GLOBAL const I64* RESTRICT begins,
    GLOBAL const I64* RESTRICT ends, GLOBAL const INDEX* RESTRICT starts, GLOBAL const INDEX* RESTRICT parents,
    GLOBAL T* sums, GLOBAL INDEX* names, GLOBAL I64* RESTRICT begins_made, GLOBAL INDEX* RESTRICT counts,
    GLOBAL T* RESTRICT scale, GLOBAL T* RESTRICT found, const I64 groups)
{
    /* A work-item adds the rows of a group, in the room that their entries had, the diagonal entry first. */
    SHARED(T, room, GROUP);
    T low = 1e308;
    FOR_EACH(group, groups) {
        const I64 at = ends[starts[group]];
        I64 count = 1;
        names[at] = (INDEX)group;
        sums[at] = 0;
        for (I64 row = starts[group]; row < starts[group + 1]; row++) {
            const I64 first = begins[row] - ends[row];
            for (I64 j = ends[row]; j < ends[row + 1]; j++) {
                const INDEX name = parents[columns[first + j]];
                I64 k = count - 1;
                while (k >= 0 && names[at + k] != name) k--;
                if (k < 0) {
                    k = count++;
                    names[at + k] = name;
                    sums[at + k] = 0;
                }
                sums[at + k] += data[first + j];
            }
        }
        begins_made[group] = at;
        counts[group] = (INDEX)count;
        scale[group] = 1/sqrt(sums[at]);
        if (sums[at] < low || sums[at] != sums[at]) low = sums[at];
    }
    $extremes
}
