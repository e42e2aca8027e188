#pragma once
__device__ inline float thrice(float x) { return x * 3.0f; }
