KERNEL begin(GLOBAL const $outer* RESTRICT r, GLOBAL T* RESTRICT right, GLOBAL T* RESTRICT z,
    GLOBAL const I64* RESTRICT boxes$peaks_argument, GLOBAL const T* RESTRICT $coefficients, const I64 parts)
{
    /* The right-hand side, over D for constant coefficients, and z = D^-1 r; parts: as in `peaks`. */
    for (I64 part = GROUP_ID; part < parts; part += GROUPS) {
        const I64 box = part/$parts, start = boxes[3*box], count = boxes[3*box + 1]*boxes[3*box + 2];
        const I64 low = start + count*(part%$parts)/$parts, high = start + count*(part%$parts + 1)/$parts;
        $scale
        for (I64 i = low + LOCAL_ID; i < high; i += GROUP) {
            const T value = (T)($value);
            $store
        }
    }
}
