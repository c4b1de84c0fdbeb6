#if defined(__CUDACC__) && GROUP == 32
DEVICE T lane_before(T v) {
    return T_FROM(__shfl_up_sync(0xffffffffu, v.x, 1), __shfl_up_sync(0xffffffffu, v.y, 1));
}
DEVICE T lane_behind(T v) {
    return T_FROM(__shfl_down_sync(0xffffffffu, v.x, 1), __shfl_down_sync(0xffffffffu, v.y, 1));
}
#endif
