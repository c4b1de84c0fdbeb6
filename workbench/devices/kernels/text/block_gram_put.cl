for (int m = 0; m < $loads; m++) {
    const int e = m*GROUP + LOCAL_ID;
    if (${within}1) of_$of[e] = next_$of[m];
}
