// A linear spring: V(s) = k (s - rest_length)^2 / 2. Source: farshi2018, section 6, its potential of the binary
// oscillator.
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"

namespace bathline {

namespace {

class HarmonicPotential final : public SimdPotential<HarmonicPotential>, public HasClosedForm {
 public:
  HarmonicPotential(double k, double rest_length) : k_(k), rest_length_(rest_length) {}
  double value(double s) const override { return 0.5 * k_ * (s - rest_length_) * (s - rest_length_); }
  template <class Number>
  Number derivative_at(Number s) const {
    return k_ * (s - rest_length_);
  }
  double second_derivative(double) const override { return k_; }
  ClosedForm closed_form() const override { return PolynomialLaw<5>{{-k_ * rest_length_, k_}}; }
  bool is_quadratic() const override { return rest_length_ == 0.0; }

 private:
  double k_, rest_length_;
};

}  // namespace

PotentialKind harmonic_potential_kind() {
  return {{.name = "harmonic",
           .summary = "linear spring",
           .equation = "V(s) = k (s - rest_length)^2 / 2",
           .source = "farshi2018, section 6: V of the binary oscillator is the one with rest length 0",
           .parameters = {required("k", ValueType::number, "N/m", "stiffness", Bound::positive),
                          defaulted("rest_length", ValueType::number, "m", "0.0",
                                    "separation at which its force is zero", Bound::nonnegative)},
           .notes = "With rest length 0 the motion is linear, and reference solutions are matrix exponentials."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<HarmonicPotential>(section.number("k"), section.number("rest_length"));
          }};
}

}  // namespace bathline
