KERNEL eigenvectors(GLOBAL const $source* RESTRICT in, GLOBAL $target* RESTRICT out, GLOBAL const T* RESTRICT matrices,
    GLOBAL const T* RESTRICT inverse, GLOBAL const I64* RESTRICT boxes, GLOBAL const I64* RESTRICT tiles$peaks_argument,
    const int transposed, const I64 jobs)
{
    /* M is the matrix of eigenvectors, or its transpose. */
    SHARED(T, left, $depth*$pitch);
    SHARED(T, right, $depth*$pitch);
    SHARED(I64, place, $edge);
    const int mine_row = LOCAL_ID/$side, mine_column = LOCAL_ID%$side;
    for (I64 job = GROUP_ID; job < jobs; job += GROUPS) {
        const I64 box = tiles[3*job];
        const int top = (int)tiles[3*job + 1];
        const I64 first = tiles[3*job + 2], start = boxes[6*box], apart = boxes[6*box + 2];
        const int n = (int)boxes[6*box + 1];
        const I64 columns = boxes[6*box + 3], matrix = boxes[6*box + 4], eigenvalues = boxes[6*box + 5];
        $scale
        for (int c = LOCAL_ID; c < $edge; c += GROUP) {
            place[c] = start + (first + c)/apart*n*apart + (first + c)%apart;
        }
        T sum[$points][$points];
        for (int a = 0; a < $points; a++) {
            for (int b = 0; b < $points; b++) sum[a][b] = 0;
        }
        for (int low = 0; low < n; low += $depth) {
            BARRIER;
            /* Consecutive work-items read consecutive numbers of either array. */
            for (int m = LOCAL_ID; m < $depth*$edge; m += GROUP) {
                const int k = transposed ? m/$edge : m%$depth, row = transposed ? m%$edge : m/$depth;
                const int i = top + row, j = low + k;
                const I64 at = matrix + (transposed ? (I64)j*n + i : (I64)i*n + j);
                left[k*$pitch + row] = i < n && j < n ? matrices[at] : (T)0;
            }
            for (int m = LOCAL_ID; m < $depth*$edge; m += GROUP) {
                const int k = apart > 1 ? m/$edge : m%$depth, c = apart > 1 ? m%$edge : m/$depth;
                const int j = low + k;
                right[k*$pitch + c] = j < n && first + c < columns ? $entry : (T)0;
            }
            BARRIER;
            /* Compilers fuse the two operations; fma is a call on some processors, which is not vectorized. */
            for (int k = 0; k < $depth; k++) {
                for (int a = 0; a < $points; a++) {
                    const T factor = left[k*$pitch + mine_row + a*$side];
                    for (int b = 0; b < $points; b++) {
                        sum[a][b] += factor*right[k*$pitch + mine_column + b*$side];
                    }
                }
            }
        }
        for (int a = 0; a < $points; a++) {
            for (int b = 0; b < $points; b++) {
                const int row = top + mine_row + a*$side, c = mine_column + b*$side;
                const I64 i = place[c] + row*apart;
                if (row < n && first + c < columns) out[i] = $value;
            }
        }
        BARRIER;
    }
}
