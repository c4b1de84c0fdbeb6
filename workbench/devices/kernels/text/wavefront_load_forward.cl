const int x = ahead + m - j, here = mine && x >= 0 && x < width;
const I64 i = base + (here ? x : 0);
next_a[m] = here ? west[i] : T_OF(0);
next_b[m] = here && j > 0 ? south[i] : T_OF(0);
next_c[m] = here ? inverse[i] : T_OF(0);
next_d[m] = here ? T_SCALE(scale, r[i]) : T_OF(0);
