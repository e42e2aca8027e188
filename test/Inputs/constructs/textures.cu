// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texture and surface objects
__global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float *out) {
  int i = threadIdx.x;
  out[i] = tex1Dfetch<float>(t, i) + tex2D<float>(t, 0.5f, 0.5f) +
           tex3D<float4>(t, 0, 0, 0).x + tex2DLod<float>(t, 0, 0, 1.0f);
  float v;
  surf2Dread(&v, s, 4 * i, 0);
  surf2Dwrite(v, s, 4 * i, 0, cudaBoundaryModeTrap);
}

int main() { sample<<<1, 1>>>(0, 0, nullptr); }
