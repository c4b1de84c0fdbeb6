const int x = width - 1 - (t + m - (last - j));
const T v = T_SUB(T_SUB(d[m], T_MUL(a[m], before)), T_MUL(b[m], received));
if (mine && x >= 0 && x < width) u[base + x] = v;
before = v;
FROM_AFTER(v, m);
xy = W_ADD(xy, W_DOT(e[m], v)); yy = W_ADD(yy, W_DOT(v, v)); xx = W_ADD(xx, W_DOT(e[m], e[m]));
