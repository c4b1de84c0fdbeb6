const int x = t + m - j;
const T v = T_SUB(T_SUB(d[m], T_MUL(a[m], before)), T_MUL(b[m], received));
if (mine && x >= 0 && x < width) u[base + x] = v;
before = v;
FROM_BEFORE(v, m);
