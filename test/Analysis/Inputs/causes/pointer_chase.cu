// One thread a block follows a linked list whose elements lie far apart.
#include "cause.h"

__global__ void follow(const unsigned *next, unsigned *out, int steps) {
  unsigned at = blockIdx.x * 97;
  for (int i = 0; i < steps; ++i)
    at = next[at]; // cause: long_scoreboard
  out[blockIdx.x] = at;
}

int main() {
  const unsigned count = 1u << 24, stride = 7340033; // odd: one cycle over all
  std::vector<unsigned> next(count);
  for (unsigned i = 0; i < count; ++i)
    next[i] = (i + stride) % count;
  unsigned *dNext = onDevice(next), *out = onDevice(std::vector<unsigned>(64));
  repeat(1000, [&] { follow<<<64, 1>>>(dNext, out, 20000); });
  std::printf("%.0f\n", sumOf(out, 64));
}
