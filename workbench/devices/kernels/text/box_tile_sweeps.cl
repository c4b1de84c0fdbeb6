/* z of the region into local memory, zeros outside the box; `times` sweeps; z of the tile back. */
$unroll for (int k = 0; k < $points; k++) {
    const int m = k*GROUP + LOCAL_ID;
    const I64 x = left - $halo + m%$region, y = top - $halo + m/$region;
    const int inside = x >= 0 && x < width && y >= 0 && y < rows;
    if (m < $region*$region) {
        room[m] = inside ? source[start + y*width + x] : T_OF(0);
        room[$region*$region + m] = T_OF(0);
    }
}
BARRIER;
for (int time = 1; time <= times; time++) {
    LOCAL const T* const z = room + ((time - 1)%2)*$region*$region;
    LOCAL T* const next = room + (time%2)*$region*$region;
    $unroll for (int k = 0; k < $points; k++) {
        if (time <= margin[k]) {
            const int m = k*GROUP + LOCAL_ID;
            const T rhs = own[k], w = z[m - 1], e = z[m + 1], s = z[m - $region], n = z[m + $region];
            $index
            next[m] = $formula;
        }
    }
    BARRIER;
}
$unroll for (int k = 0; k < $points; k++) {
    const int m = k*GROUP + LOCAL_ID;
    if (margin[k] >= $halo) {
        const I64 x = left - $halo + m%$region, y = top - $halo + m/$region;
        target[start + y*width + x] = room[(times%2)*$region*$region + m];
    }
}
