#pragma once
__device__ inline float hotTwice(float x) {
  float y = x * 2.0f;
  return y;
}
