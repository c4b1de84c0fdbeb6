KERNEL levels(
    $arguments
    GLOBAL const INDEX* RESTRICT order, GLOBAL const INDEX* RESTRICT bounds,
    GLOBAL const INDEX* RESTRICT firsts, const I64 count)
{
    $dots_begin
    for (I64 k = GROUP_ID; k < count; k += GROUPS) {
        for (INDEX level = firsts[k]; level < firsts[k + 1]; level++) {
            for (INDEX m = bounds[level] + LOCAL_ID; m < bounds[level + 1]; m += GROUP) {
            const INDEX i = order[m];
            $forward
            }
            BARRIER;
        }
        for (INDEX level = firsts[k + 1]; level > firsts[k]; level--) {
            for (INDEX m = bounds[level - 1] + LOCAL_ID; m < bounds[level]; m += GROUP) {
            const INDEX i = order[m];
            $backward
            }
            BARRIER;
        }
    }
    $dots_end
}
