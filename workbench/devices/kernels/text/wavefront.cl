KERNEL wavefront(GLOBAL const T* RESTRICT west, GLOBAL const T* RESTRICT south, GLOBAL const T* RESTRICT inverse,
    const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial, const int width, const I64 rows,
    const I64 rows_per_block)
{
    typedef struct ALIGNED($bytes) { T of[$vector]; } PART;
    ALIGNED(16) SHARED(W, room, $words);
    /* Of a tile: a and b, and d, which becomes v, behind the last v of the tile before. */
    LOCAL T* a = (LOCAL T*)room;
    LOCAL T* b = a + $rows*$pitch;
    LOCAL T* d = b + $rows*$pitch;
    W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);
    const int j = LOCAL_ID;
    const I64 blocks = (rows + rows_per_block - 1)/rows_per_block;
    for (I64 block = GROUP_ID; block < blocks; block += GROUPS) {
        const I64 first = block*rows_per_block, left = rows - first;
        const int last = (int)(left < rows_per_block ? left : rows_per_block) - 1;
        const int tiles = (width + $step*last + $tile - 1)/$tile;
        for (int backward = 0; backward < 2; backward++) {
            T before = T_OF(0);
            PART v[$parts];
            _Pragma("unroll") for (int m = 0; m < $parts; m++) _Pragma("unroll") for (int k = 0; k < $vector; k++) v[m].of[k] = T_OF(0);
            BARRIER;
            for (int now = -1; now < tiles; now++) {
                T next_a[$each], next_b[$each], next_d[$each], done[$each], e[$each];
                if ($loads) {
                    _Pragma("unroll") for (int n = 0; n < $each; n++) {
                        $place
                        const int wanted = inside && ahead >= 0 && ahead < width;
                        const I64 i = start + sign*ahead;
                        const T c = wanted ? inverse[i] : T_OF(0);
                        next_a[n] = wanted && ahead > 0 ? T_MUL(c, backward ? T_CONJ(west[i + 1]) : west[i]) : T_OF(0);
                        next_b[n] = wanted && slot > 0 ? T_MUL(c, backward ? T_CONJ(south[i + width]) : south[i]) : T_OF(0);
                        next_d[n] = wanted ? (backward ? u[i] : T_MUL(c, T_SCALE(scale, r[i]))) : T_OF(0);
                        e[n] = backward && ends ? r[start + sign*x] : T_OF(0);
                    }
                }
                if ($steps && now >= 0)
                    for (int q = 0; q < $tile; q += $step) {
                        if (j < $rows) {
                            LOCAL const PART* of_a = (LOCAL const PART*)(a + j*$pitch + q);
                            LOCAL const PART* of_b = (LOCAL const PART*)(b + j*$pitch + q);
                            LOCAL const PART* above = (LOCAL const PART*)(d + (j > 0 ? j - 1 : 0)*$deep + q);
                            LOCAL PART* mine = (LOCAL PART*)(d + j*$deep + $step + q);
                            _Pragma("unroll") for (int m = 0; m < $parts; m++) {
                                const PART f = of_b[m], g = above[m];
                                v[m] = mine[m];
                                _Pragma("unroll") for (int k = 0; k < $vector; k++) v[m].of[k] = T_SUB(v[m].of[k], T_MUL(f.of[k], g.of[k]));
                            }
                            _Pragma("unroll") for (int m = 0; m < $parts; m++) {
                                const PART f = of_a[m];
                                _Pragma("unroll") for (int k = 0; k < $vector; k++) v[m].of[k] = before = T_SUB(v[m].of[k], T_MUL(f.of[k], before));
                            }
                            _Pragma("unroll") for (int m = 0; m < $parts; m++) mine[m] = v[m];
                        }
                        $step_barrier;
                    }
                BARRIER;
                if ($loads) {
                    _Pragma("unroll") for (int n = 0; n < $each; n++) {
                        $place
                        done[n] = ends ? d[slot*$deep + $step + t] : T_OF(0);
                        if (slot < $rows) {
                            a[slot*$pitch + t] = next_a[n];
                            b[slot*$pitch + t] = next_b[n];
                            d[slot*$deep + $step + t] = next_d[n];
                        }
                    }
                }
                if ($steps && j < $rows) {
                    _Pragma("unroll") for (int m = 0; m < $parts; m++) ((LOCAL PART*)(d + j*$deep))[m] = v[m];
                }
                BARRIER;
                if ($loads) {
                    _Pragma("unroll") for (int n = 0; n < $each; n++) {
                        $place
                        if (ends) u[start + sign*x] = done[n];
                        if (backward) {
                            xy = W_ADD(xy, W_DOT(e[n], done[n])); yy = W_ADD(yy, W_DOT(done[n], done[n])); xx = W_ADD(xx, W_DOT(e[n], e[n]));
                        }
                    }
                }
            }
        }
    }
    $dots_end
}
