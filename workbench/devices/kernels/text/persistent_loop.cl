extern "C" __global__ void __launch_bounds__(GROUP) iterations(W* scalars, unsigned* arrivals, const int times$parameters)
{
    __shared__ W mine[WORDS];
    for (int k = threadIdx.x; k < WORDS; k += GROUP) mine[k] = scalars[k];
    BARRIER;
    for (int time = 0; time < times && W_REAL(mine[STOP]) == 0; time++) {
        $lines
    }
    if (blockIdx.x == 0)
        for (int k = threadIdx.x; k < WORDS; k += GROUP) scalars[k] = mine[k];
}
