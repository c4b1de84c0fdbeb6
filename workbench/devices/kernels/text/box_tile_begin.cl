/* Per point of the region: right-hand side, and the number of sweeps in which its value is right. */
$unroll for (int k = 0; k < $points; k++) {
    const int m = k*GROUP + LOCAL_ID, column = m%$region, row = m/$region;
    const I64 x = left - $halo + column, y = top - $halo + row;
    const int across = column < $region - 1 - column ? column : $region - 1 - column;
    const int along = row < $region - 1 - row ? row : $region - 1 - row;
    const int inside = m < $region*$region && x >= 0 && x < width && y >= 0 && y < rows;
    margin[k] = !inside ? 0 : across < along ? across : along;
    own[k] = inside ? right[start + y*width + x] : T_OF(0);
}
