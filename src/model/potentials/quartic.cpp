// The stiffening or softening spring of Duffing's oscillator: V(s) = k s^2 / 2 + beta s^4 / 4.
// Source: kovacic2011, chapter 1.
// Tested by tests/properties/potentials_test.cpp.
#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"

namespace bathline {

namespace {

class QuarticPotential final : public SimdPotential<QuarticPotential>, public HasClosedForm {
 public:
  QuarticPotential(double k, double beta) : k_(k), beta_(beta) {}
  double value(double s) const override { return s * s * (0.5 * k_ + 0.25 * beta_ * (s * s)); }
  template <class Number>
  Number derivative_at(Number s) const {
    return s * (k_ + beta_ * (s * s));
  }
  double second_derivative(double s) const override { return k_ + 3.0 * beta_ * (s * s); }
  ClosedForm closed_form() const override { return PolynomialLaw<5>{{0.0, k_, 0.0, beta_}}; }

 private:
  double k_, beta_;
};

}  // namespace

PotentialKind quartic_potential_kind() {
  return {{.name = "quartic",
           .summary = "stiffening or softening spring of Duffing's oscillator",
           .equation = "V(s) = k s^2 / 2 + beta s^4 / 4",
           .source = "kovacic2011, chapter 1",
           .parameters = {required("k", ValueType::number, "N/m", "stiffness at s = 0, of either sign"),
                          required("beta", ValueType::number, "N/m^3",
                                   "quartic coefficient; positive stiffens, negative softens")},
           .notes = "Duffing's oscillator is a `pair-potential` system of one particle with this as `external`."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<QuarticPotential>(section.number("k"), section.number("beta"));
          }};
}

}  // namespace bathline
