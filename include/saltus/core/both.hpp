// SALTUS_BOTH marks a function that is compiled for the host and for a GPU: the laws that samplers
// and kernels share are written once, with it.
#pragma once

#ifdef __CUDACC__
#define SALTUS_BOTH __host__ __device__
#else
#define SALTUS_BOTH
#endif
