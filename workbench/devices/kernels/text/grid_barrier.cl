/* Grid-wide barrier: wait until all groups have arrived; the counter is never reset. */
DEVICE void grid_barrier(unsigned* arrivals) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned ticket = atomicAdd(arrivals, 1u), all = (ticket/gridDim.x + 1)*gridDim.x;
        while (*(volatile unsigned*)arrivals < all) {}
        __threadfence();
    }
    __syncthreads();
}
