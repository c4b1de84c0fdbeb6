#if defined(__CUDACC__) && GROUP == 32
DEVICE T lane_before(T v) { return __shfl_up_sync(0xffffffffu, v, 1); }
DEVICE T lane_behind(T v) { return __shfl_down_sync(0xffffffffu, v, 1); }
#endif
