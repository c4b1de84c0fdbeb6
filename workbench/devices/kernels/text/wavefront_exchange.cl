#define STRETCH $stretch
#define UNROLL _Pragma("unroll")
#if defined(__CUDACC__) && GROUP == 32
#define FROM_BEFORE(v, m) received = shuffled_before(v)
#define FROM_AFTER(v, m) received = shuffled_after(v)
#else
#define SIDE(m) ((m) % 2*(GROUP + 2) + j + 1)
#define FROM_BEFORE(v, m) exchanged[SIDE(m)] = v; BARRIER; received = exchanged[SIDE(m) - 1]
#define FROM_AFTER(v, m) exchanged[SIDE(m)] = v; BARRIER; received = exchanged[SIDE(m) + 1]
#endif
