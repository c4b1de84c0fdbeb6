#define KERNEL __kernel void
#define BOUNDS(group, resident)
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
#define DEVICE static inline
#define GLOBAL __global
#define LOCAL __local
#define SHARED(type, name, size) __local type name[size] __attribute__((aligned(16)))
#define RESTRICT restrict
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GROUP_ID ((I64)get_group_id(0))
#define GROUPS ((I64)get_num_groups(0))
#define LOCAL_ID ((int)get_local_id(0))
#define GLOBAL_ID ((I64)get_global_id(0))
#define MAKE(type, x, y) ((type)((x), (y)))
typedef long I64;
typedef unsigned long U64;
#define NO_CONTRACTION _Pragma("OPENCL FP_CONTRACT OFF")
#define WHOLE(type, place) vload2(0, place)
#define PUT_WHOLE(type, place, x, y) vstore2((type)(x, y), 0, place)
