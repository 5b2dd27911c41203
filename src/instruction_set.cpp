// A program that was built for another processor ends with a message instead of an illegal instruction.
// Tested by tests/command_line/processor_test.py.
#if defined(__x86_64__)

#include <unistd.h>

#include <cstring>

// Such a program may contain unsupported instructions everywhere, so the check is compiled for any processor.
#define BATHLINE_BASELINE_TARGET gnu::target("no-avx,no-bmi,no-bmi2")

namespace {

[[BATHLINE_BASELINE_TARGET]] void print_error(const char* text) {
  // A failure cannot be handled here, before `main`.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

struct Feature {
  const char* name;
  bool is_supported;
};

/// Runs before all other initialisations before `main`.
[[gnu::constructor(101), BATHLINE_BASELINE_TARGET]] void require_instruction_set() {
  __builtin_cpu_init();
  const Feature features[] = {
#if defined(__AVX512F__)
    {"AVX-512 F", __builtin_cpu_supports("avx512f") != 0},
#endif
#if defined(__AVX512BW__)
    {"AVX-512 BW", __builtin_cpu_supports("avx512bw") != 0},
#endif
#if defined(__AVX512CD__)
    {"AVX-512 CD", __builtin_cpu_supports("avx512cd") != 0},
#endif
#if defined(__AVX512DQ__)
    {"AVX-512 DQ", __builtin_cpu_supports("avx512dq") != 0},
#endif
#if defined(__AVX512VL__)
    {"AVX-512 VL", __builtin_cpu_supports("avx512vl") != 0},
#endif
#if defined(__AVX2__)
    {"AVX2", __builtin_cpu_supports("avx2") != 0},
#endif
#if defined(__FMA__)
    {"FMA", __builtin_cpu_supports("fma") != 0},
#endif
#if defined(__BMI2__)
    {"BMI2", __builtin_cpu_supports("bmi2") != 0},
#endif
    // Part of every x86-64.
    {"SSE2", __builtin_cpu_supports("sse2") != 0}
  };
  for (const Feature& feature : features) {
    if (feature.is_supported) continue;
    print_error("bathline: built for processors with ");
    print_error(feature.name);
    print_error(
        ", which this one does not have. Build it on a machine like this one, or with -DBATHLINE_ARCH=x86-64-v3, which "
        "more of them have, or x86-64, which all have.\n");
    _exit(2);  // nothing was written
  }
}

}  // namespace

#endif
