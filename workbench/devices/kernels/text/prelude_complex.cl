typedef pair_t X;
DEVICE X X_OF(real_t a) { return MAKE(pair_t, a, (real_t)0); }
DEVICE X X_FROM(real_t a, real_t b) { return MAKE(pair_t, a, b); }
DEVICE real_t X_REAL(X a) { return a.x; }
DEVICE X X_ADD(X a, X b) { return MAKE(pair_t, a.x + b.x, a.y + b.y); }
DEVICE X X_SUB(X a, X b) { return MAKE(pair_t, a.x - b.x, a.y - b.y); }
DEVICE X X_MUL(X a, X b) { return MAKE(pair_t, a.x*b.x - a.y*b.y, a.x*b.y + a.y*b.x); }
DEVICE X X_NEG(X a) { return MAKE(pair_t, -a.x, -a.y); }
DEVICE X X_CONJ(X a) { return MAKE(pair_t, a.x, -a.y); }
DEVICE X X_SCALE(real_t s, X a) { return MAKE(pair_t, s*a.x, s*a.y); }
DEVICE X X_ABS(X a) { return MAKE(pair_t, hypot(a.x, a.y), (real_t)0); }
/* Smith's quotient: no part of the divisor is squared. */
DEVICE X X_DIV(X a, X b) {
    if (fabs(b.x) >= fabs(b.y)) {
        const real_t q = b.y/b.x, d = b.x + b.y*q;
        return MAKE(pair_t, (a.x + a.y*q)/d, (a.y - a.x*q)/d);
    }
    const real_t q = b.x/b.y, d = b.x*q + b.y;
    return MAKE(pair_t, (a.x*q + a.y)/d, (a.y*q - a.x)/d);
}
DEVICE X X_SQRT(X a) {
    const real_t m = hypot(a.x, a.y);
    if (m == (real_t)0) return MAKE(pair_t, (real_t)0, a.y);
    const real_t h = sqrt((m + fabs(a.x))/(real_t)2);
    if (a.x >= (real_t)0) return MAKE(pair_t, h, a.y/((real_t)2*h));
    return MAKE(pair_t, fabs(a.y)/((real_t)2*h), a.y < (real_t)0 ? -h : h);
}
