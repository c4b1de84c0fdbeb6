const int x = width - 1 - (ahead + m - (last - j)), here = mine && x >= 0 && x < width;
const I64 i = base + (here ? x : 0);
next_a[m] = here && x + 1 < width ? T_CONJ(west[i + 1]) : T_OF(0);
next_b[m] = here && j < last ? T_CONJ(south[i + width]) : T_OF(0);
next_c[m] = here ? inverse[i] : T_OF(0);
next_d[m] = here ? u[i] : T_OF(0);
next_e[m] = here ? r[i] : T_OF(0);
