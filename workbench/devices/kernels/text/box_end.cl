KERNEL end(GLOBAL $outer* RESTRICT out, GLOBAL const T* RESTRICT z, GLOBAL const I64* RESTRICT boxes$peaks_argument,
    const I64 parts)
{
    for (I64 part = GROUP_ID; part < parts; part += GROUPS) {
        const I64 box = part/$parts, start = boxes[3*box], count = boxes[3*box + 1]*boxes[3*box + 2];
        const I64 low = start + count*(part%$parts)/$parts, high = start + count*(part%$parts + 1)/$parts;
        $scale
        for (I64 i = low + LOCAL_ID; i < high; i += GROUP) out[i] = $value;
    }
}
