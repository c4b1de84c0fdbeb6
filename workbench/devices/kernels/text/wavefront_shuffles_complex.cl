#if defined(__CUDACC__) && GROUP == 32
DEVICE T shuffled_before(T v) {
    return T_FROM(__shfl_up_sync(0xffffffffu, v.x, 1), __shfl_up_sync(0xffffffffu, v.y, 1));
}
DEVICE T shuffled_after(T v) {
    return T_FROM(__shfl_down_sync(0xffffffffu, v.x, 1), __shfl_down_sync(0xffffffffu, v.y, 1));
}
#endif
