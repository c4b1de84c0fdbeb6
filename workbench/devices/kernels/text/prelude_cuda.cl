#define KERNEL extern "C" __global__ void
#define BOUNDS(group, resident) __launch_bounds__(group, resident)
#define ALIGNED(bytes) __align__(bytes)
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define SHARED(type, name, size) __shared__ __align__(16) type name[size]
#define RESTRICT __restrict__
#define BARRIER __syncthreads()
#define GROUP_ID ((I64)blockIdx.x)
#define GROUPS ((I64)gridDim.x)
#define LOCAL_ID ((int)threadIdx.x)
#define GLOBAL_ID ((I64)blockIdx.x * blockDim.x + threadIdx.x)
#define MAKE(type, x, y) make_##type((x), (y))
typedef long long I64;
typedef unsigned long long U64;
/* CUDA has products for it in place of a directive. */
#define NO_CONTRACTION
#define WHOLE(type, place) (*(const type*)(place))
#define PUT_WHOLE(type, place, x, y) *(type*)(place) = make_##type(x, y)
