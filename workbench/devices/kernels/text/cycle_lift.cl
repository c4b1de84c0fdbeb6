for (INDEX m = starts[i]; m < starts[i + 1]; m++) above[m] = T_ADD(above[m], T_SCALE(scaling*weights[m], v));
