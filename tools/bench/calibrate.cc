// A loop of known work, printed beside timings so that machines can be compared: microseconds for a million steps of a
// dependent chain of four 8-wide multiply-adds.
#include <chrono>
#include <cstdio>

int main() {
  typedef float F8 __attribute__((vector_size(32)));
  F8 a[4] = {}, x = {1, 2, 3, 4, 5, 6, 7, 8};
  constexpr int kSteps = 50'000'000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kSteps; ++i)
    for (F8& v : a) v = v * 0.5f + x;
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  float sum = 0;
  for (const F8& v : a) sum += v[0];
  std::printf("%.0f us a million steps (sum %g)\n", s / kSteps * 1e12, static_cast<double>(sum));
}
