// The double well V(s) = E ((s/a)^2 - 1)^2. Source: kramers1940, the bistable potential.
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"
#include "simd/invariant_divisor.hpp"

namespace bathline {

namespace {

class DoubleWellPotential final : public SimdPotential<DoubleWellPotential>, public HasClosedForm {
 public:
  DoubleWellPotential(double barrier, double half_distance)
      : barrier_(barrier), half_distance_(half_distance), scale_(half_distance) {}
  double value(double s) const override {
    const double x = s / half_distance_;
    return barrier_ * ((x * x - 1.0) * (x * x - 1.0));
  }
  template <class Number>
  Number derivative_at(Number s) const {
    const Number x = scale_.divide(s);
    return 4.0 * barrier_ / half_distance_ * (x * (x * x - 1.0));
  }
  double second_derivative(double s) const override {
    const double x = s / half_distance_;
    return 4.0 * barrier_ / (half_distance_ * half_distance_) * (3.0 * (x * x) - 1.0);
  }
  ClosedForm closed_form() const override {
    const double stiffness = 4.0 * barrier_ / (half_distance_ * half_distance_);
    return PolynomialLaw<5>{{0.0, -stiffness, 0.0, stiffness / (half_distance_ * half_distance_)}};
  }

 private:
  double barrier_, half_distance_;
  InvariantDivisor scale_;
};

}  // namespace

PotentialKind double_well_potential_kind() {
  return {{.name = "double-well",
           .summary = "double well: two minima with a barrier between them",
           .equation = "V(s) = barrier ((s / half_distance)^2 - 1)^2",
           .source = "kramers1940, the bistable potential",
           .parameters = {required("barrier", ValueType::number, "J", "height of the barrier above the minima",
                                   Bound::positive),
                          required("half_distance", ValueType::number, "m", "distance of the minima from the barrier",
                                   Bound::positive)},
           .notes = "Minima at s = -half_distance and half_distance, of stiffness 8 barrier / half_distance^2; with "
                    "several axes they are one shell."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<DoubleWellPotential>(section.number("barrier"), section.number("half_distance"));
          }};
}

}  // namespace bathline
