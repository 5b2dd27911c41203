# Sets `instruction_set` to the largest one, as named by -march, that the building machine supports.
set(instruction_set "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(instruction_set x86-64-v3)
  if(NOT CMAKE_CROSSCOMPILING)
    try_run(BATHLINE_ARCH_RAN BATHLINE_ARCH_COMPILED
      SOURCE_FROM_CONTENT instruction_set.cpp [[
#include <cstdio>
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)
int main() {
  const bool v3 = HAS("avx2") && HAS("fma") && HAS("bmi") && HAS("bmi2");
  const bool v4 = v3 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl");
  std::fputs(v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : "x86-64", stdout);
}
]] RUN_OUTPUT_VARIABLE detected)
    if(BATHLINE_ARCH_COMPILED AND BATHLINE_ARCH_RAN EQUAL 0)
      set(instruction_set ${detected})
    endif()
  endif()
endif()
