for (int f = 0; f < $loads; f++) {
    const int r = (f*32 + item)/$chunk;
    const INDEX j = low[r] + n + (f*32 + item)%$chunk;
    entry[f] = j < high[r] ? data[j] : T_OF(0);
    place[f] = j < high[r] ? indices[j] : -1;
}
