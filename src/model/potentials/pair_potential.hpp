// The interface of pair potentials, which are functions of one separation.
// Tested by tests/properties/potentials_test.cpp.
#pragma once

#include <cstddef>
#include <span>

#include "simd/simd_double.hpp"

namespace bathline {

/// A function V(s) of a separation s in m; V, V' and V'' are in J, N and N/m. With one axis s has either sign, with
/// several it is a distance. Where V is undefined the functions return NaN or infinity, with which the run ends as a
/// numerical failure.
class PairPotential {
 public:
  virtual ~PairPotential() = default;
  virtual double value(double s) const = 0;
  virtual double derivative(double s) const = 0;
  virtual double second_derivative(double s) const = 0;
  /// The derivatives at many separations, with the bits of `derivative`. The spans have the same size.
  virtual void derivatives(std::span<const double> s, std::span<double> values) const {
    for (std::size_t i = 0; i < s.size(); ++i) values[i] = derivative(s[i]);
  }
  /// Whether V = k s^2 / 2 up to a constant, so that the force is linear in the positions.
  virtual bool is_quadratic() const { return false; }
};

/// A potential `Own` whose derivative is elementary arithmetic: its `derivative_at` is a template that is instantiated
/// for double and for SimdDouble.
template <class Own>
class SimdPotential : public PairPotential {
 public:
  double derivative(double s) const final { return own().derivative_at(s); }
  void derivatives(std::span<const double> s, std::span<double> values) const final {
    const Own own = this->own();  // a local copy, which cannot alias the results
    std::size_t i = 0;
    for (; i + simd_width <= s.size(); i += simd_width) store(own.derivative_at(load(&s[i])), &values[i]);
    for (; i < s.size(); ++i) values[i] = own.derivative_at(s[i]);
  }

 private:
  const Own& own() const { return static_cast<const Own&>(*this); }
};

}  // namespace bathline
