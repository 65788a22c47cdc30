// SALTUS_BOTH marks a function that is compiled for the host and for a GPU: the laws that samplers
// and kernels share are written once, with it.
#pragma once

#ifdef __CUDACC__
#define SALTUS_BOTH __host__ __device__
// How the loop that follows is compiled for a GPU.
#define SALTUS_UNROLL _Pragma("unroll")
#define SALTUS_DO_NOT_UNROLL _Pragma("unroll 1")
#else
#define SALTUS_BOTH
#define SALTUS_UNROLL
#define SALTUS_DO_NOT_UNROLL
#endif
