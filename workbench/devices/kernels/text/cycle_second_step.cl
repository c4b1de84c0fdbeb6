/* z - beta p is E-orthogonal to p; where next to nothing is left of z, there is no second direction. */
const W zs = room[2*GROUP], beta = W_REAL(ps) > 0 ? W_DIV(W_CONJ(zs), ps) : W_OF(0);
const W numerator = W_SUB(room[4*GROUP], W_MUL(W_CONJ(beta), room[5*GROUP]));
const W curvature = W_SUB(room[3*GROUP], W_MUL(beta, zs));
const W second = W_REAL(curvature) > (V)1e-6*W_REAL(room[3*GROUP]) ? W_DIV(numerator, curvature) : W_OF(0);
const T of_p = T_OF_W(W_SUB(first, W_MUL(second, beta))), of_z = T_OF_W(second);
