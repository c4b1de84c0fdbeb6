T v = T_SCALE(scale, r[i]);
for (INDEX j = low_starts[i]; j < low_starts[i + 1]; j++) v = T_SUB(v, T_MUL(low[j], u[low_indices[j]]));
u[i] = T_MUL(v, inverse[i]);
