// Elastic spheres in contact: V(s) = (2/5) k (contact - s)^{5/2} where s < contact. Source: hertz1881, nesterenko1984.
// Tested by tests/model/potentials_test.cpp.
#include <cmath>

#include "model/potentials/catalogue.hpp"
#include "model/potentials/closed_form.hpp"
#include "model/potentials/line_potentials.hpp"

namespace bathline {

namespace {

class HertzPotential final : public PairPotential, public HasClosedForm {
 public:
  HertzPotential(double k, double contact) : k_(k), contact_(contact) {}
  double value(double s) const override {
    const double x = overlap(s);
    return 0.4 * k_ * (x * x * std::sqrt(x));
  }
  double derivative(double s) const override {
    const double x = overlap(s);
    return -k_ * (x * std::sqrt(x));
  }
  double second_derivative(double s) const override { return 1.5 * k_ * std::sqrt(overlap(s)); }
  ClosedForm closed_form() const override { return ContactLaw{-k_, contact_}; }

 private:
  /// NaN where s is.
  double overlap(double s) const { return contact_ - s < 0.0 ? 0.0 : contact_ - s; }

  double k_, contact_;
};

}  // namespace

PotentialKind hertz_potential_kind() {
  return {{.name = "hertz",
           .summary = "elastic spheres in contact (granular chains)",
           .equation = "V(s) = (2/5) k (contact - s)^(5/2) where s < contact, else 0",
           .source = "hertz1881; nesterenko1984",
           .keywords = {"granular chain", "nesterenko", "contact"},
           .parameters = {required("k", ValueType::number, "N/m^(3/2)", "strength", Bound::positive),
                          defaulted("contact", ValueType::number, "m", "0.0",
                                    "separation at which the spheres touch, their diameter where s is a distance")},
           .notes = "Spheres of equal elasticity E, Poisson's ratio nu and radius R have k = E sqrt(2 R)/(3 (1 - "
                    "nu^2)). There is no attraction. On one axis, where positions are displacements, `contact` 0 is a "
                    "chain that just touches, without sound, and a positive one a chain under the force k "
                    "contact^(3/2)."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<HertzPotential>(section.number("k"), section.number("contact"));
          }};
}

}  // namespace bathline
