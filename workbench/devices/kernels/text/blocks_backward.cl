T sum = T_OF(0);
for (INDEX j = up_starts[i]; j < up_starts[i + 1]; j++) sum = T_ADD(sum, T_MUL(up[j], u[up_indices[j]]));
const T v = T_SUB(u[i], T_MUL(inverse[i], sum));
u[i] = v;
$dots_add
