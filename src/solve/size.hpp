// Sizes of small vectors and matrices that are known at compile time for the smallest ones.
#pragma once

namespace bathline {

/// N, or, for 0, a number that is known at run time only.
template <int N>
struct Size {
  constexpr explicit Size(int) {}
  constexpr operator int() const { return N; }
};
template <>
struct Size<0> {
  int n;
  constexpr explicit Size(int number) : n(number) {}
  constexpr operator int() const { return n; }
};

/// use(Size<n>) for n from 1 to 4, for which the compiler unrolls loops, and use(Size<0>) for others.
template <class Use>
[[gnu::always_inline]] inline decltype(auto) with_size(int n, Use&& use) {
  switch (n) {
    case 1:
      return use(Size<1>(n));
    case 2:
      return use(Size<2>(n));
    case 3:
      return use(Size<3>(n));
    case 4:
      return use(Size<4>(n));
    default:
      return use(Size<0>(n));
  }
}

}  // namespace bathline
