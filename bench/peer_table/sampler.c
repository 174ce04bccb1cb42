/* Which instructions a process really spends its time on: preloaded into it, counts the instruction at each tick of
 * its processor time by width, into the file that SAMPLER_FILE names (eight 64-bit counts, mapped, so that another
 * process can read them while this one runs).
 *
 * The kernel interrupts between instructions, so that the program counter stands on a first byte: the prefix tells the
 * width without a disassembler. Intel SDM volume 2: EVEX (62) has its length in bits 6:5 of the third payload byte,
 * VEX (C5, C4) in bit 2 of the last one; a legacy vector instruction is one of 0F 10..17, 28..2F, 50..6F, 74..7F,
 * D0..FF after its prefixes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { kScalar, kSse, kVex128, kVex256, kEvex128, kEvex256, kEvex512, kOther, kKinds };
static volatile uint64_t* counts;

#if defined(__x86_64__)
static int legacy(const uint8_t* at) {
  int op;
  while (*at == 0x66 || *at == 0xF2 || *at == 0xF3) ++at;
  if ((*at & 0xF0) == 0x40) ++at;
  if (at[0] != 0x0F) return kScalar;
  op = at[1];
  if ((op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2F) || (op >= 0x50 && op <= 0x6F) ||
      (op >= 0x74 && op <= 0x7F) || op == 0xC6 || op >= 0xD0)
    return kSse;
  return kScalar;
}

static int kind_at(const uint8_t* at) {
  switch (at[0]) {
    case 0x62: return kEvex128 + ((at[3] >> 5) & 3);
    case 0xC5: return at[1] & 4 ? kVex256 : kVex128;
    case 0xC4: return at[2] & 4 ? kVex256 : kVex128;
    default: return legacy(at);
  }
}

static void tick(int signal, siginfo_t* info, void* context) {
  const ucontext_t* where = context;
  int kind = kind_at((const uint8_t*)where->uc_mcontext.gregs[REG_RIP]);
  (void)signal, (void)info;
  if (kind >= kKinds) kind = kOther;
  __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void start(void) {
  const char* path = getenv("SAMPLER_FILE");
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  struct sigaction action = {0};
  int file;
  if (!path) return;
  file = open(path, O_RDWR);
  if (file < 0) return;
  counts = mmap(0, kKinds * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (counts == MAP_FAILED) return;
  action.sa_sigaction = tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, 0);
  setitimer(ITIMER_PROF, &every, 0);
}
#endif
