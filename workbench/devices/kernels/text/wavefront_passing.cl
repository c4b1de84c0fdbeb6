#define STRETCH $stretch
#define UNROLL _Pragma("unroll")
#if defined(__CUDACC__) && GROUP == 32
#define FROM_BEFORE(v, m) got = lane_before(v)
#define FROM_BEHIND(v, m) got = lane_behind(v)
#else
#define SIDE(m) ((m) % 2*(GROUP + 2) + j + 1)
#define FROM_BEFORE(v, m) handed[SIDE(m)] = v; BARRIER; got = handed[SIDE(m) - 1]
#define FROM_BEHIND(v, m) handed[SIDE(m)] = v; BARRIER; got = handed[SIDE(m) + 1]
#endif
