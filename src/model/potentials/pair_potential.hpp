// A potential of one separation.
// Tested by tests/properties/potentials_test.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "simd/simd_double.hpp"

namespace bathline {

/// A function V(s) of a separation s in m; J, N and N/m. With one axis s has a sign and V is used on both sides of
/// zero, with several it is a distance. Where there is no value, NaN or infinity: the run then ends as a numerical
/// failure.
class PairPotential {
 public:
  virtual ~PairPotential() = default;
  virtual double value(double s) const = 0;
  virtual double derivative(double s) const = 0;
  virtual double second_derivative(double s) const = 0;
  /// The slopes at many separations, to the bit of `slope`. Both spans have one size.
  virtual void derivatives(std::span<const double> s, std::span<double> slopes) const {
    for (std::size_t i = 0; i < s.size(); ++i) slopes[i] = derivative(s[i]);
  }
  /// Whether V = k s^2 / 2 up to a constant, so that the force is linear in the positions.
  virtual bool is_quadratic() const { return false; }
};

/// A potential `Own` whose slope is arithmetic alone: it has a `derivative_at` for a number and for a register of them.
template <class Own>
class SimdPotential : public PairPotential {
 public:
  double derivative(double s) const final { return own().derivative_at(s); }
  void derivatives(std::span<const double> s, std::span<double> slopes) const final {
    const Own own = this->own();  // a copy, which no result can overwrite
    std::size_t i = 0;
    for (; i + simd_width <= s.size(); i += simd_width) store(own.derivative_at(load(&s[i])), &slopes[i]);
    for (; i < s.size(); ++i) slopes[i] = own.derivative_at(s[i]);
  }

 private:
  const Own& own() const { return static_cast<const Own&>(*this); }
};

}  // namespace bathline
