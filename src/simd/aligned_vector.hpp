// Arrays aligned to cache lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace bathline {

/// Bytes of a cache line.
inline constexpr std::size_t cache_line_bytes = 64;

/// Allocates memory aligned to cache lines.
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

/// For vectorised loops: a load that crosses a cache line costs two.
using AlignedVector = std::vector<double, AlignedAllocator<double>>;

}  // namespace bathline
