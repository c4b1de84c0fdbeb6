    /* A group has a tile of the near directions, $halo cells more on every side, and `planes` planes. A work-item has
       $rows rows at one x; neighbours in the plane are in local memory, those of the plane before in registers. A level
       of K^T needs the one before it at the plane above, so it is made one plane later. All weights are relative to the
       coefficient within the cell's own phase: 1, or `mixed` where a neighbour differs. */
    SHARED(W, memory, $words);
    $dots_begin
    LOCAL T* const share = (LOCAL T*)memory;
    LOCAL T* const below = share + $table + $width;
    LOCAL T* const above = below + $halo*$plane;
    for (int k = LOCAL_ID; k < $table; k += GROUP) share[k] = shares[k];
    for (int k = LOCAL_ID; k < $width + 2*$halo*$plane; k += GROUP) share[$table + k] = T_OF(0);
    BARRIER;
    const int column = LOCAL_ID%$width, row = LOCAL_ID/$width*$rows, at = row*$width + column, layer = nx*ny;
    const int tile = (int)(GROUP_ID%tiles), first = (int)(GROUP_ID/tiles)*planes;
    const int end = first + planes < nz ? first + planes : nz, last = end + $halo < nz ? end + $halo : nz;
    const int x = tile%across*$columns + column - $halo, y = tile/across*$lines + row - $margin;
    int inside = 0, owned = 0;
    $unroll for (int j = 0; j < $rows; j++) {
        const int exists = x >= 0 && x < nx && y + j >= 0 && y + j < ny;
        inside |= exists << j;
        const int line = row + j, whole = column >= $halo && column < $width - $halo;
        owned |= (exists && whole && line >= $margin && line < $height - $margin) << j;
    }
    T before[$halo][$rows], middle[$halo][$rows], part[$halo][$rows], value[$rows];
    int cell[$halo][$rows], rough[$halo], coming[$rows];
    $unroll for (int m = 0; m < $halo; m++) {
        rough[m] = 0;
        $unroll for (int j = 0; j < $rows; j++) {
            before[m][j] = middle[m][j] = part[m][j] = T_OF(0);
            cell[m][j] = 0;
        }
    }
    int here = (first - $halo)*layer + y*nx + x;
    $unroll for (int j = 0; j < $rows; j++) {
        const int exists = first >= $halo && (inside >> j & 1);
        value[j] = exists ? r[here + j*nx] : T_OF(0);
        coming[j] = exists ? cells[here + j*nx] : 0;
    }
    for (int z = first - $halo; z < end + $halo; z++) {
        T base[$rows], own[$rows], level[$rows], raised[$halo][$rows];
        int now[$rows], mixed_here = 0;
        $unroll for (int j = 0; j < $rows; j++) {
            now[j] = coming[j];
            mixed_here |= now[j] & $neighbours;
            own[j] = share[now[j] >> $place_shift];
            base[j] = own[j]*(now[j] & $phase ? inverse1 : inverse0)*value[j];
            level[j] = base[j];
            below[at + j*$width] = level[j];
        }
        here += layer;
        $unroll for (int j = 0; j < $rows; j++) {
            const int exists = z + 1 >= 0 && z + 1 < last && (inside >> j & 1);
            value[j] = exists ? r[here + j*nx] : T_OF(0);
            coming[j] = exists ? cells[here + j*nx] : 0;
        }
        $unroll for (int l = 0; l < $halo; l++) {
            BARRIER;
            LOCAL const T* const near = below + l*$plane + at;
            $under
            if (mixed_here) {
                $unroll for (int j = 0; j < $rows; j++) {
                    const T mixed = now[j] & $phase ? mixed1 : mixed0;
                    T sum = WEIGHT(now[j], 2, mixed)*before[l][j] + WEIGHT(now[j], 0, mixed)*near[j*$width - 1];
                    $lower_mixed
                    before[l][j] = level[j];
                    $carried
                    level[j] = base[j] + own[j]*sum;
                }
            } else {
                $unroll for (int j = 0; j < $rows; j++) {
                    T sum = before[l][j] + near[j*$width - 1];
                    $lower
                    before[l][j] = level[j];
                    $carried
                    level[j] = base[j] + own[j]*sum;
                }
            }
            if (l + 1 < $halo) {
                $unroll for (int j = 0; j < $rows; j++) below[(l + 1)*$plane + at + j*$width] = level[j];
            }
        }
        $unroll for (int m = 0; m < $halo; m++) {
            $unroll for (int j = 0; j < $rows; j++) {
                raised[m][j] = level[j];
                above[m*$plane + at + j*$width] = level[j];
            }
            $unroll for (int j = 0; j < $rows; j++) {
                T sum = level[j];
                if (rough[m]) sum *= WEIGHT(cell[m][j], 5, (cell[m][j] & $phase ? mixed1 : mixed0));
                level[j] = middle[m][j] + share[cell[m][j] >> $place_shift]*(part[m][j] + sum);
            }
        }
        if (z - $halo >= first) {
            const int to = here - ($halo + 1)*layer;
            $unroll for (int j = 0; j < $rows; j++)
                if (owned >> j & 1) {
                    const T v = level[j];
                    u[to + j*nx] = v;
                    $dots_add
                }
        }
        BARRIER;
        /* The neighbours in the plane of what the next step makes. */
        $unroll for (int m = $halo - 1; m >= 0; m--) {
            LOCAL const T* const near = above + m*$plane + at;
            if (m > 0 ? rough[m > 0 ? m - 1 : 0] : mixed_here) {
                $unroll for (int j = 0; j < $rows; j++) {
                    const int that = m > 0 ? cell[m > 0 ? m - 1 : 0][j] : now[j];
                    const T mixed = that & $phase ? mixed1 : mixed0;
                    T sum = WEIGHT(that, 3, mixed)*near[j*$width + 1];
                    $upper_mixed
                    part[m][j] = sum;
                }
            } else {
                $unroll for (int j = 0; j < $rows; j++) {
                    T sum = near[j*$width + 1];
                    $upper
                    part[m][j] = sum;
                }
            }
        }
        $unroll for (int m = $halo - 1; m >= 0; m--) {
            rough[m] = m > 0 ? rough[m > 0 ? m - 1 : 0] : mixed_here;
            $unroll for (int j = 0; j < $rows; j++) {
                middle[m][j] = m > 0 ? middle[m > 0 ? m - 1 : 0][j] : raised[0][j];
                cell[m][j] = m > 0 ? cell[m > 0 ? m - 1 : 0][j] : now[j];
            }
        }
    }
    $dots_end
