#if defined(__CUDACC__) && GROUP == 32
DEVICE T shuffled_before(T v) { return __shfl_up_sync(0xffffffffu, v, 1); }
DEVICE T shuffled_after(T v) { return __shfl_down_sync(0xffffffffu, v, 1); }
#endif
