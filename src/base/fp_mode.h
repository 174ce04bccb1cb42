// The calling thread's floating-point control: rounding, traps, and whether subnormals count as zero.
#pragma once
#include <cstdint>

namespace mica {

#if defined(__x86_64__) || defined(__SSE__)
inline constexpr uint64_t kFpFlush = 0x8040;    // MXCSR: flush-to-zero of results, denormals-are-zero of inputs
inline constexpr uint64_t kFpControl = 0xffc0;  // without the sticky exception flags
inline uint64_t fp_mode() { return __builtin_ia32_stmxcsr(); }
inline void set_fp_mode(uint64_t mode) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(mode)); }
#elif defined(__aarch64__)
inline constexpr uint64_t kFpFlush = uint64_t{1} << 24;  // FPCR.FZ
inline constexpr uint64_t kFpControl = ~uint64_t{0};     // the flags are in another register
inline uint64_t fp_mode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void set_fp_mode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else  // no such control: nothing to keep
inline constexpr uint64_t kFpFlush = 0, kFpControl = 0;
inline uint64_t fp_mode() { return 0; }
inline void set_fp_mode(uint64_t) {}
#endif

// Gives the calling thread the control bits of `mode` while in scope. Costs one register read when they are set
// already.
class FpModeScope {
 public:
  explicit FpModeScope(uint64_t mode) : old_(fp_mode()), changed_(((old_ ^ mode) & kFpControl) != 0) {
    if (changed_) set_fp_mode(mode);
  }
  ~FpModeScope() {
    if (changed_) set_fp_mode(old_);
  }
  FpModeScope(const FpModeScope&) = delete;
  FpModeScope& operator=(const FpModeScope&) = delete;

 private:
  uint64_t old_;
  bool changed_;
};

// Subnormal numbers count as zero in the calling thread while this lives (they cost 100 cycles and more per operation
// on some processors); regions that it runs on other threads follow. The caller's own mode comes back afterwards.
class FlushDenormals : public FpModeScope {
 public:
  FlushDenormals() : FpModeScope(fp_mode() | kFpFlush) {}
};

}  // namespace mica
