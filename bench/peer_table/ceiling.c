// Multiply-adds in registers alone, in the widest vectors of the processor that compiles this: what no program can
// exceed on one thread. Compiled by ceiling.py with -march=native.
#if defined(__AVX512F__)
enum { kBytes = 64 };
#elif defined(__AVX__)
enum { kBytes = 32 };
#else
enum { kBytes = 16 };
#endif
enum { kLanes = kBytes / 4, kChains = 12 };  // chains cover the latency of two units, and 16 registers hold them all

typedef float Vector __attribute__((vector_size(kBytes)));

// Floating-point operations of one round; a multiply-add counts two.
int round_flops(void) { return 2 * kChains * kLanes; }

// The factor and the addend are the caller's and the sum is returned, so that the compiler can compute nothing before.
float multiply_adds(long rounds, float factor, float addend) {
  Vector chain[kChains], times, plus;
  for (int k = 0; k < kLanes; ++k) times[k] = factor, plus[k] = addend + (float)k;
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chain[i] = plus + (float)i;
  for (long r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * times + plus;
  }
#pragma GCC unroll 12
  for (int i = 1; i < kChains; ++i) chain[0] += chain[i];
  return chain[0][0];
}
