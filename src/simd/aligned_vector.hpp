// Arrays that begin with a cache line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace bathline {

/// Bytes that caches and memory hand over together.
inline constexpr std::size_t cache_line_bytes = 64;

/// Allocates from the beginning of a cache line.
template <class T>
struct AlignedAllocator {
  using value_type = T;

  AlignedAllocator() = default;
  template <class Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{cache_line_bytes}));
  }
  void deallocate(T* from, std::size_t) { ::operator delete (from, std::align_val_t{cache_line_bytes}); }

  bool operator==(const AlignedAllocator&) const = default;
};

/// For loops over registers: a register that lies in two cache lines is loaded twice.
using AlignedVector = std::vector<double, AlignedAllocator<double>>;

}  // namespace bathline
