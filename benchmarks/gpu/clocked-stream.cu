// clocked-stream [N] [ROUNDS]: the kernels of stream, which note themselves when they ran.
// The first and the last blocks of every launch store %globaltimer (ns of one clock for the
// whole device) and the SM's cycle counter, so a launch's time from its first block's start to
// its last block's end is known whatever tool is attached, or none. Two loops: launches back to
// back, and with cudaEvents around each. Prints, for each kernel and loop, medians over the
// launches from the second on. scripts/measure-collector runs it bare, under CUPTI's activity
// records and under Nsight Compute, to tell a kernel that runs differently from a tool that
// sets its begin and end elsewhere.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t err_ = (call);                                                                     \
    if (err_ != cudaSuccess) {                                                                     \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err_));           \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

enum { Copy, Mul, Add, Triad, Dot, Kinds };
static const char *const Names[Kinds] = {"copy", "mul", "add", "triad", "dot"};

constexpr int kBlock = 256;
constexpr int kDotBlocks = 256;
/// At both ends of the grid: more blocks than the device holds at a time (8 of 256 threads on
/// each SM), so that the first to start and the last to end are among them.
constexpr int kEdge = 4096;

struct Stamp {
  unsigned long long Ns, Cycles;
  unsigned Sm;
};

__device__ Stamp now() {
  Stamp s;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(s.Ns));
  s.Cycles = clock64();
  asm volatile("mov.u32 %0, %%smid;" : "=r"(s.Sm));
  return s;
}

/// stamps[0, kEdge) are starts of the first blocks, [kEdge, 2 kEdge) ends of the last.
__device__ void started(Stamp *stamps) {
  if (threadIdx.x == 0 && blockIdx.x < kEdge)
    stamps[blockIdx.x] = now();
}
__device__ void ended(Stamp *stamps) {
  int fromEnd = gridDim.x - 1 - blockIdx.x;
  if (fromEnd >= kEdge)
    return;
  __syncthreads();
  if (threadIdx.x == 0)
    stamps[kEdge + fromEnd] = now();
}

template <typename T, int kind>
__global__ void clocked(T *a, T *b, T *c, T *partial, T s, int n, Stamp *stamps) {
  started(stamps);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if constexpr (kind == Dot) {
    __shared__ T sums[kBlock];
    int t = threadIdx.x;
    sums[t] = T(0);
    for (; i < n; i += blockDim.x * gridDim.x)
      sums[t] += a[i] * b[i];
    for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
      __syncthreads();
      if (t < offset)
        sums[t] += sums[t + offset];
    }
    if (t == 0)
      partial[blockIdx.x] = sums[0];
  } else if (i < n) {
    if constexpr (kind == Copy)
      c[i] = a[i];
    else if constexpr (kind == Mul)
      b[i] = s * c[i];
    else if constexpr (kind == Add)
      c[i] = a[i] + b[i];
    else
      a[i] = b[i] + s * c[i];
  }
  ended(stamps);
}

static double median(std::vector<double> v) {
  if (v.empty())
    return 0;
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}

/// What the stamps of one launch say.
struct Span {
  unsigned long long Begin = ~0ull, End = 0;
  double Ghz = 0; ///< of an SM whose block started early and another's ended late
};

static Span spanOf(const std::vector<Stamp> &stamps, int blocks) {
  int edge = std::min(kEdge, blocks);
  Span span;
  std::vector<Stamp> first(1024, Stamp{~0ull, 0, 0}), last(1024, Stamp{0, 0, 0});
  for (int i = 0; i < edge; ++i) {
    const Stamp &s = stamps[i], &e = stamps[kEdge + i];
    span.Begin = std::min(span.Begin, s.Ns);
    span.End = std::max(span.End, e.Ns);
    if (s.Sm < first.size() && s.Ns < first[s.Sm].Ns)
      first[s.Sm] = s;
    if (e.Sm < last.size() && e.Ns > last[e.Sm].Ns)
      last[e.Sm] = e;
  }
  std::vector<double> clocks;
  for (size_t i = 0; i < first.size(); ++i)
    if (last[i].Ns > first[i].Ns)
      clocks.push_back(double(last[i].Cycles - first[i].Cycles) / double(last[i].Ns - first[i].Ns));
  span.Ghz = median(clocks);
  return span;
}

template <typename T, int kind>
static void launch(T *a, T *b, T *c, T *partial, int n, Stamp *stamps) {
  int grid = kind == Dot ? kDotBlocks : (n + kBlock - 1) / kBlock;
  clocked<T, kind><<<grid, kBlock>>>(a, b, c, partial, T(0.4), n, stamps);
}

template <typename T> static void run(const char *type, int n, int rounds, bool events) {
  T *a, *b, *c, *partial;
  Stamp *stamps;
  const size_t launches = size_t(rounds) * Kinds;
  for (T **array : {&a, &b, &c}) {
    CHECK(cudaMalloc(array, n * sizeof(T)));
    CHECK(cudaMemset(*array, 0, n * sizeof(T)));
  }
  CHECK(cudaMalloc(&partial, kDotBlocks * sizeof(T)));
  CHECK(cudaMalloc(&stamps, launches * 2 * kEdge * sizeof(Stamp)));
  std::vector<cudaEvent_t> before(launches), after(launches);
  for (size_t l = 0; l < launches; ++l) {
    CHECK(cudaEventCreate(&before[l]));
    CHECK(cudaEventCreate(&after[l]));
  }
  CHECK(cudaDeviceSynchronize());
  for (size_t l = 0; l < launches; ++l) {
    Stamp *mine = stamps + l * 2 * kEdge;
    if (events)
      CHECK(cudaEventRecord(before[l]));
    switch (l % Kinds) {
    case Copy: launch<T, Copy>(a, b, c, partial, n, mine); break;
    case Mul: launch<T, Mul>(a, b, c, partial, n, mine); break;
    case Add: launch<T, Add>(a, b, c, partial, n, mine); break;
    case Triad: launch<T, Triad>(a, b, c, partial, n, mine); break;
    default: launch<T, Dot>(a, b, c, partial, n, mine); break;
    }
    if (events)
      CHECK(cudaEventRecord(after[l]));
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<double> spans[Kinds], gaps[Kinds], clocks[Kinds], timed[Kinds];
  std::vector<Stamp> host(2 * kEdge);
  unsigned long long step = ~0ull, previous = 0;
  for (size_t l = 0; l < launches; ++l) {
    int kind = int(l % Kinds);
    CHECK(cudaMemcpy(host.data(), stamps + l * 2 * kEdge, host.size() * sizeof(Stamp),
                     cudaMemcpyDeviceToHost));
    int blocks = kind == Dot ? kDotBlocks : (n + kBlock - 1) / kBlock;
    Span span = spanOf(host, blocks);
    for (int i = 1; i < std::min(kEdge, blocks); ++i)
      if (host[i].Ns > host[0].Ns)
        step = std::min(step, host[i].Ns - host[0].Ns);
    if (l >= Kinds) { // not the first launch of each
      spans[kind].push_back(double(span.End - span.Begin));
      gaps[kind].push_back(double(span.Begin) - double(previous));
      clocks[kind].push_back(span.Ghz);
      float ms = 0;
      if (events) {
        CHECK(cudaEventElapsedTime(&ms, before[l], after[l]));
        timed[kind].push_back(ms * 1e6);
      }
    }
    previous = span.End;
  }
  for (int kind = 0; kind < Kinds; ++kind)
    std::printf("{\"kernel\":\"%s<%s>\",\"events\":%s,\"span_ns\":%.0f,\"event_ns\":%.0f,"
                "\"gap_before_ns\":%.0f,\"sm_ghz\":%.4f,\"timer_step_ns\":%llu}\n",
                Names[kind], type, events ? "true" : "false", median(spans[kind]),
                median(timed[kind]), median(gaps[kind]), median(clocks[kind]), step);
  for (size_t l = 0; l < launches; ++l) {
    CHECK(cudaEventDestroy(before[l]));
    CHECK(cudaEventDestroy(after[l]));
  }
  for (void *p : {(void *)a, (void *)b, (void *)c, (void *)partial, (void *)stamps})
    CHECK(cudaFree(p));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1 << 25;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  if (n < 1 || rounds < 2) {
    std::fprintf(stderr, "usage: clocked-stream [N] [ROUNDS], N from 1, ROUNDS from 2\n");
    return 1;
  }
  for (bool events : {false, true}) {
    run<float>("float", n, rounds, events);
    run<double>("double", n, rounds, events);
  }
}
