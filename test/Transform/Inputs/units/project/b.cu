// Reads h.cuh with a macro that makes fmaf something else, and declares a kernel of a.cu.
#define fmaf(a, b, c) (a b c)
#include "h.cuh"

__global__ void hotThere(const float *in, float *out);

__global__ void other(float *p) { p[0] = hotTwice(p[1]); }
