before = received = T_OF(0);
for (int k = j; k < 2*(GROUP + 2); k += GROUP) exchanged[k] = T_OF(0);
BARRIER;
ahead = 0;
UNROLL for (int m = 0; m < STRETCH; m++) {
    $load
}
for (int t = 0; t < steps; t += STRETCH) {
    UNROLL for (int m = 0; m < STRETCH; m++) {
        a[m] = T_MUL(next_c[m], next_a[m]);
        b[m] = T_MUL(next_c[m], next_b[m]);
        $moves
    }
    ahead = t + STRETCH;
    UNROLL for (int m = 0; m < STRETCH; m++) {
        $load
    }
    UNROLL for (int m = 0; m < STRETCH; m++) {
        $step
    }
}
BARRIER;
