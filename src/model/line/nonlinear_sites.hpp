// Sites whose springs and whose forces of position are nonlinear.
//
//   p_j' = V'(w_{j+1} - w_j) - V'(w_j - w_{j-1}) - U'(w_j),   w_j' = p_j / M_j
//
// A chain between two particles is folded at its middle: two strands, each from its particle inwards, with the far ends
// joined. The second strand runs against the chain, so that its springs have the mirrored law -V'(-s). All expressions
// give the same bits along both directions.
// Tested by tests/model/line/nonlinear_sites_test.cpp.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>

#include "model/potentials/closed_form.hpp"
#include "model/potentials/pair_potential.hpp"
#include "simd/elementary.hpp"

namespace bathline {

// Laws: pull(s) is V'(s) and value(s) is V(s) - V(0), for numbers and registers; mirrored() is the law of the other
// direction.

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

/// V'(s) = sum_k c[k] s^k, k = 1, ..., degree; the highest degree has a constant, too.
template <int degree>
struct PolynomialLaw {
  static constexpr int levels = 2;
  static constexpr bool has_constant = degree == 5;
  std::array<double, degree + 1> c{};

  explicit PolynomialLaw(const PolynomialForce& force = {}, double unit = 1.0) {
    for (std::size_t k = has_constant ? 0 : 1; k < c.size(); ++k) c[k] = force.c[k] / unit;
  }
  template <class Number>
  Number pull(Number s) const {
    const Number sum = quotient(s);
    if constexpr (has_constant) return multiply_add(sum, s, splat<Number>(c[0]));
    return sum * s;
  }
  /// force - V'(s), for on-site forces.
  template <class Number>
  Number pulled(Number s, Number force) const {
    const Number rest = multiply_add(-quotient(s), s, force);
    if constexpr (has_constant) return rest - c[0];
    return rest;
  }
  template <class Number>
  Number value(Number s) const {
    Number sum = splat<Number>(c[degree] / (degree + 1));
    for (int k = degree - 1; k >= 0; --k)
      sum = multiply_add(sum, s, splat<Number>(c[static_cast<std::size_t>(k)] / (k + 1)));
    return sum * s;
  }
  PolynomialLaw mirrored() const {
    PolynomialLaw law = *this;
    for (std::size_t k = 0; k < c.size(); k += 2) law.c[k] = -c[k];
    return law;
  }

 private:
  /// (V'(s) - c[0])/s.
  template <class Number>
  Number quotient(Number s) const {
    Number sum = splat<Number>(c[degree]);
#pragma GCC unroll 8
    for (int k = degree - 1; k >= 1; --k) sum = multiply_add(sum, s, splat<Number>(c[static_cast<std::size_t>(k)]));
    return sum;
  }
};

/// V'(s) = strength (exp(rate s) - 1).
struct ExponentialLaw {
  static constexpr int levels = 1;
  double strength = 0.0, rate = 0.0;

  ExponentialLaw() = default;
  explicit ExponentialLaw(const ExponentialForce& force) : strength(-force.a), rate(-force.b) {}
  template <class Number>
  Number pull(Number s) const {
    return strength * exponential_minus_one(rate * s);
  }
  template <class Number>
  Number value(Number s) const {
    const Number x = rate * s;
    return (strength / rate) * (exponential_minus_one(x) - x);
  }
  ExponentialLaw mirrored() const {
    ExponentialLaw law = *this;
    law.strength = -strength;
    law.rate = -rate;
    return law;
  }
};

/// V'(s) = strength (contact + direction s)^{3/2}, where that is positive.
struct ContactLaw {
  static constexpr int levels = 2;
  double strength = 0.0, contact = 0.0, direction = -1.0;

  ContactLaw() = default;
  explicit ContactLaw(const ContactForce& force) : strength(-force.k), contact(force.contact) {}
  template <class Number>
  Number overlap(Number s) const {
    return larger(multiply_add(splat<Number>(direction), s, splat<Number>(contact)), splat<Number>(0.0));
  }
  template <class Number>
  Number pull(Number s) const {
    const Number x = overlap(s);
    return strength * (x * square_root(x));
  }
  template <class Number>
  Number value(Number s) const {
    return 0.4 * direction * strength * (power(overlap(s)) - power(overlap(splat<Number>(0.0))));
  }
  ContactLaw mirrored() const {
    ContactLaw law = *this;
    law.strength = -strength;
    law.direction = -direction;
    return law;
  }

 private:
  /// x^{5/2}.
  template <class Number>
  static Number power(Number x) {
    return x * x * square_root(x);
  }
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
