// The force laws that lines of springs evaluate in registers.
// Tested by tests/model/line/nonlinear_sites_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <variant>

#include "simd/elementary.hpp"

namespace bathline {

// pull(s) is V'(s) and value(s) is V(s) - V(0), for numbers and registers; mirrored() is the law -V'(-s).

/// V'(s) = sum_k c[k] s^k, k = 1, ..., degree; the highest degree has a constant, too.
template <int degree>
struct PolynomialLaw {
  static constexpr int levels = 2;
  static constexpr bool has_constant = degree == 5;
  std::array<double, degree + 1> c{};

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

  template <class Number>
  Number pull(Number s) const {
    return strength * exponential_minus_one(rate * s);
  }
  template <class Number>
  Number value(Number s) const {
    const Number x = rate * s;
    return (strength / rate) * (exponential_minus_one(x) - x);
  }
  ExponentialLaw mirrored() const { return {-strength, -rate}; }
};

/// V'(s) = strength (contact + direction s)^{3/2}, where that is positive.
struct ContactLaw {
  static constexpr int levels = 2;
  double strength = 0.0, contact = 0.0, direction = -1.0;

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
  ContactLaw mirrored() const { return {-strength, contact, -direction}; }

 private:
  /// x^{5/2}.
  template <class Number>
  static Number power(Number x) {
    return x * x * square_root(x);
  }
};

/// V' where it is one of these.
using ClosedForm = std::variant<std::monostate, PolynomialLaw<5>, ExponentialLaw, ContactLaw>;

/// Implemented by pair potentials whose derivative may have a closed form.
class HasClosedForm {
 public:
  virtual ~HasClosedForm() = default;
  virtual ClosedForm closed_form() const = 0;
};

/// That of a potential; empty where it has another.
template <class Potential>
ClosedForm closed_form_of(const Potential& potential) {
  const auto* form = dynamic_cast<const HasClosedForm*>(&potential);
  return form != nullptr ? form->closed_form() : ClosedForm{};
}

}  // namespace bathline
