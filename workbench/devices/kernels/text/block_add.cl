const T a = $entry; for (int k = 0; k < $columns; k++) sum[k] = T_ADD(sum[k], T_MUL(a, $factor));
