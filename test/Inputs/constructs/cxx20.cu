// Part of optimas-rewrite, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc: -std=c++20
#include <concepts>
#include <cstdio>
#include <span>

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

template <Number T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }

struct Point {
  int x, y;
  auto operator<=>(const Point &) const = default;
};

int main() {
  Point a{.x = 1, .y = 2}, b{.x = 1, .y = 3};
  std::span<int> none;
  scale<<<1, 1>>>((float *)nullptr, 2.0f);
  std::printf("%d %zu\n", a < b, none.size());
}
