// Sites whose springs and whose forces of position are nonlinear.
//
//   p_j' = V'(w_{j+1} - w_j) - V'(w_j - w_{j-1}) - U'(w_j),   w_j' = p_j / M_j
//
// A chain between two particles is folded at its middle: two strands, each from its particle inwards, with the far ends
// joined. The second strand runs against the chain, so that its springs have the mirrored law -V'(-s). All expressions
// give the same bits along both directions.
// Tested by tests/model/line/nonlinear_sites_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "model/potentials/closed_form.hpp"
#include "model/potentials/pair_potential.hpp"
#include "simd/simd_double.hpp"

namespace bathline {

// The laws that have no closed form (closed_form.hpp).

/// No force.
struct NoLaw {};

/// V'(s) = s in units of the stiffness of the line.
struct UnitLaw {
  static constexpr int levels = 2;
  template <class Number>
  Number pull(Number s) const {
    return s;
  }
  template <class Number>
  Number value(Number s) const {
    return 0.5 * (s * s);
  }
  UnitLaw mirrored() const { return *this; }
};

/// Any law, as a function of a batch of stretches.
struct BatchLaw {
  static constexpr int levels = 1;
  const PairPotential* potential = nullptr;  ///< nullptr: no force
  double direction = 1.0;

  double pull(double s) const { return potential ? direction * potential->derivative(direction * s) : 0.0; }
  SimdDouble pull(SimdDouble s) const {
    if (potential == nullptr) return SimdDouble{};
    double numbers[simd_width], pulls[simd_width];
    store(direction * s, numbers);
    potential->derivatives(numbers, pulls);
    return direction * load(pulls);
  }
  /// At many stretches, which are overwritten. The spans have the same size.
  void pulls(std::span<double> s, std::span<double> values) const {
    for (double& stretch : s) stretch *= direction;
    potential->derivatives(s, values);
    for (double& value : values) value *= direction;
  }
  template <class Number>
  Number pulled(Number s, Number force) const {
    return force - pull(s);
  }
  double value(double s) const { return potential ? potential->value(direction * s) - potential->value(0.0) : 0.0; }
  SimdDouble value(SimdDouble s) const {
    for (int i = 0; i < simd_width; ++i) s[i] = value(double{s[i]});
    return s;
  }
  BatchLaw mirrored() const { return {potential, -direction}; }
};

/// No row: all sites have one mass.
struct NoRow {};

/// Sites as in sites.hpp, with springs of the law V and on-site forces of the law U; the masses are equal or in a row.
template <class SpringLaw, class SiteLaw = NoLaw, class Row = NoRow>
struct NonlinearSites {
  static constexpr bool has_rows = !std::same_as<Row, NoRow>;
  static constexpr int rows = has_rows ? 1 : 0;
  static constexpr int spring_rows = 0;
  /// Kicks and drifts that a sweep does at once: more would not fit into the registers.
  static constexpr int levels = SpringLaw::levels;
  static constexpr bool is_odd = false;

  double stiffness = 1.0, mass = 1.0;
  SpringLaw spring{};
  SiteLaw site{};
  Row inverse_mass{};

  template <class Number>
  Number pull(std::int64_t, Number stretch) const {
    return spring.pull(stretch);
  }
  /// The force of springs and position together.
  template <class Number>
  Number held(Number w, Number force) const {
    if constexpr (std::same_as<SiteLaw, NoLaw>) {
      return force;
    } else {
      return site.pulled(w, force);
    }
  }
  template <class Number>
  Number per_mass(std::int64_t j, Number x) const {
    if constexpr (has_rows) {
      return x * inverse_mass[j];
    } else {
      return x;
    }
  }
  double energy(std::int64_t, double stretch) const { return stiffness * spring.value(stretch); }
  template <class Number>
  Number energy(std::int64_t j, Number momentum, Number stretch, Number w) const {
    Number potential = spring.value(stretch);
    if constexpr (!std::same_as<SiteLaw, NoLaw>) potential += site.value(w);
    return multiply_add(splat<Number>(2.0 * stiffness * mass), potential, per_mass(j, momentum * momentum));
  }
  template <class Convert>
  auto mapped(Convert convert) const {
    if constexpr (has_rows) {
      return NonlinearSites<SpringLaw, SiteLaw, decltype(convert(inverse_mass))>{stiffness, mass, spring, site,
                                                                                 convert(inverse_mass)};
    } else {
      return *this;
    }
  }
  /// The sites of the other direction, with the rows of this one.
  NonlinearSites mirrored() const { return {stiffness, mass, spring.mirrored(), site, inverse_mass}; }
};

template <class Row = NoRow>
using CubicSpringSites = NonlinearSites<PolynomialLaw<3>, NoLaw, Row>;
template <class Row = NoRow>
using CubicHeldSites = NonlinearSites<UnitLaw, PolynomialLaw<3>, Row>;
template <class Row = const double*>
using PolynomialSites = NonlinearSites<PolynomialLaw<5>, PolynomialLaw<5>, Row>;
template <class Row = const double*>
using ExponentialSites = NonlinearSites<ExponentialLaw, NoLaw, Row>;
template <class Row = const double*>
using ContactSites = NonlinearSites<ContactLaw, NoLaw, Row>;
template <class Row = const double*>
using BatchSites = NonlinearSites<BatchLaw, BatchLaw, Row>;

}  // namespace bathline
