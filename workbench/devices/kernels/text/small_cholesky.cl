/* L L^H = a Hermitian matrix `of` on the columns that are spanned, scaled to a unit diagonal, one row a work-item, and
   L^-1 in its upper triangle. place[j] is the step that took column j, picked the other way round. */
SHARED(W, l, $s*$s);
SHARED(V, diagonal, $s);
SHARED(V, scale, $s);
SHARED(int, picked, $s);
SHARED(int, place, $s);
const int j = LOCAL_ID, active = W_REAL(state[STOPPED]) == 0;
int count = 0, ok = active;
V largest = 0, least_pivot = 1, most_pivot = 0;
if (j < $s) {
    const V d = W_REAL(of[j*$s + j]);
    scale[j] = d > 0 ? sqrt(d) : (V)0;
    place[j] = W_REAL(spanned[j]) != 0 ? -1 : -2;
    diagonal[j] = 1;
}
BARRIER;
for (int i = 0; i < $s; i++)
    if (place[i] == -1) {
        count++;
        largest = scale[i] > largest ? scale[i] : largest;
    }
for (int i = 0; i < $s; i++) ok = ok && (place[i] != -1 || scale[i] > $zero*largest);
for (int k = 0; k < count; k++) {
    int p = -1;
    V best = 0;
    for (int i = 0; i < $s; i++)
        if (place[i] == -1 && ($choose)) {
            p = i;
            best = diagonal[i];
        }
    ok = ok && p >= 0 && best > $tolerance;
    least_pivot = best < least_pivot ? best : least_pivot;
    most_pivot = best > most_pivot ? best : most_pivot;
    BARRIER;
    if (ok && j < $s && place[j] == -1) {
        const V root = sqrt(best);
        if (j == p) {
            l[j*$s + k] = W_OF(root);
            place[j] = k;
            picked[k] = j;
        } else {
            W v = W_SCALE(1/(scale[j]*scale[p]), of[j*$s + p]);
            for (int q = 0; q < k; q++) v = W_SUB(v, W_MUL(l[j*$s + q], W_CONJ(l[p*$s + q])));
            v = W_SCALE(1/root, v);
            l[j*$s + k] = v;
            diagonal[j] -= W_REAL(W_MUL(v, W_CONJ(v)));
        }
    }
    BARRIER;
}
if (ok && j < count) {
    const int row = picked[j]*$s;
    for (int a = j + 1; a < count; a++) {
        const int of_a = picked[a]*$s;
        W y = W_SCALE(1/W_REAL(l[row + j]), l[of_a + j]);
        for (int q = j + 1; q < a; q++) y = W_ADD(y, W_MUL(l[of_a + q], l[row + q]));
        l[row + a] = W_SCALE(-1/W_REAL(l[of_a + a]), y);
    }
}
BARRIER;
if ($halted && active && !ok && j == 0) state[STOPPED] = W_OF($halted);
#define EACH(e) for (int e = ok ? LOCAL_ID : $s*$s; e < $s*$s; e += GROUP)
/* Entries of L^-H and of L^H, without the scaling undone. */
#define ROW_OF(e) place[(e)/$s]
#define COLUMN_OF(e) place[(e)%$s]
#define INVERSE(e) (ROW_OF(e) < 0 || COLUMN_OF(e) < ROW_OF(e) ? W_OF(0) : W_SCALE(1/scale[(e)/$s], \
    COLUMN_OF(e) == ROW_OF(e) ? W_OF(1/W_REAL(l[(e)/$s*$s + ROW_OF(e)])) : W_CONJ(l[(e)/$s*$s + COLUMN_OF(e)])))
#define ADJOINT(e) (ROW_OF(e) < 0 || COLUMN_OF(e) < ROW_OF(e) ? W_OF(0) : \
    W_SCALE(scale[(e)%$s], W_CONJ(l[(e)%$s*$s + ROW_OF(e)])))
