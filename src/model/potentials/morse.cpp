// The Morse potential V(s) = depth ((1 - e)^2 - 1), e = exp(-(s - r0)/width). Source: morse1929.
// Tested by tests/properties/potentials_test.cpp.
#include <cmath>

#include "model/potentials/catalogue.hpp"

namespace bathline {

namespace {

class MorsePotential final : public PairPotential {
 public:
  MorsePotential(double depth, double width, double r0) : depth_(depth), width_(width), r0_(r0) {}
  double value(double s) const override {
    const double e = decay(s);
    return depth_ * (e * (e - 2.0));
  }
  double derivative(double s) const override {
    const double e = decay(s);
    return 2.0 * depth_ / width_ * (e * (1.0 - e));
  }
  double second_derivative(double s) const override {
    const double e = decay(s);
    return 2.0 * depth_ / (width_ * width_) * (e * (2.0 * e - 1.0));
  }

 private:
  double decay(double s) const { return std::exp(-(s - r0_) / width_); }
  double depth_, width_, r0_;
};

}  // namespace

PotentialKind morse_potential_kind() {
  return {{.name = "morse",
           .summary = "Morse potential of a chemical bond that can break",
           .equation = "V(s) = depth ((1 - e)^2 - 1),  e = exp(-(s - r0) / width)",
           .source = "morse1929",
           .parameters = {required("depth", ValueType::number, "J", "dissociation energy", Bound::positive),
                          required("width", ValueType::number, "m", "decay length", Bound::positive),
                          required("r0", ValueType::number, "m", "separation at equilibrium", Bound::nonnegative)},
           .notes = "Zero at large separations; stiffness 2 depth / width^2 at equilibrium. With one axis s is signed, "
                    "q[b] - q[a] of a pair a < b, so the equilibrium has particle b to the right of particle a."},
          [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
            return std::make_shared<MorsePotential>(section.number("depth"), section.number("width"),
                                                    section.number("r0"));
          }};
}

}  // namespace bathline
