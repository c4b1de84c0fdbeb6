for (int m = 0; m < $loads; m++) {
    const int e = m*GROUP + LOCAL_ID;
    next_$of[m] = ${within}first*$s + e < n*$s ? $of[first*$s + e] : T_OF(0);
}
