// One particle of contact mechanics: linear friction from a Lagrangian that depends on the action z.
//
//   L = |v|^2 / 2 - V(q) + gamma z,  z' = L;   q'' = -grad V + gamma q',   H = |p|^2 / 2 + V - gamma z,  H' = gamma H
//
// Source: simoes2020, section 5, where gamma < 0; eq. (19) for the equations. The rest of the program treats it as an
// open system with the damping matrix -gamma.
#include <fmt/format.h>

#include "model/systems/external_forces.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "model/system_catalogue.hpp"

namespace bathline {

namespace {

/// Unit stiffness, as in simoes2020.
class UnitSpring final : public PairPotential {
 public:
  double value(double s) const override { return 0.5 * s * s; }
  double derivative(double s) const override { return s; }
  double second_derivative(double) const override { return 1.0; }
  bool is_quadratic() const override { return true; }
};

void build_contact(const Section& section, const Catalogue<PotentialKind>& potentials, ParticleSystem& system,
                   Mistakes& mistakes) {
  system.particles = 1;
  const Section::Rows& start = section.rows("q0");
  system.axes = start.empty() ? 1 : static_cast<int>(start.front().size());
  if (system.axes > 3) {
    mistakes.add(section.where("q0"),
                 fmt::format("`q0` has {} numbers per particle: there are at most 3 axes", system.axes));
    return;
  }
  read_start(section, system, mistakes);
  system.mass = Eigen::VectorXd::Ones(system.axes);
  Contact contact{.gamma = section.number("gamma"), .z0 = section.number("z0"), .q1 = {}};
  if (section.has("q1")) {
    if (section.has("v0")) {
      mistakes.add(section.where("q1"), "`q1` and `v0` both determine the initial velocity; give one of them");
    }
    contact.q1 = read_positions(section, "q1", system, mistakes);
  }
  std::vector<PairPotentialSum::Term> terms;
  if (section.text("potential") == "harmonic") {
    terms.push_back({PairPotentialSum::origin, 0, std::make_shared<UnitSpring>()});
  }
  if (section.has("external")) {
    terms.push_back({PairPotentialSum::origin, 0, build_potential(potentials, section.table("external"), mistakes)});
  }
  system.potential = std::make_shared<PairPotentialSum>(std::move(terms), system.axes);
  Eigen::VectorXd gradient;
  system.potential->gradient(system.q0, gradient);
  if (!gradient.allFinite()) {
    mistakes.add(section.where("q0"), "`q0`: the force is not finite there; move the particle");
  }
  system.damping = -contact.gamma * Eigen::MatrixXd::Identity(system.axes, system.axes);
  system.contact = contact;
  if (system.axes != 2) return;
  system.observables = {{.name = "angular_momentum",
                         .units = "kg m^2/s",
                         .long_name = "angular momentum q x p",
                         .value = [](const Eigen::VectorXd& q, const Eigen::VectorXd& v, double) -> Eigen::VectorXd {
                           return Eigen::VectorXd::Constant(1, q[0] * v[1] - q[1] * v[0]);
                         },
                         .integrand = {}}};
}

}  // namespace

SystemKind contact_kind() {
  return {
      {.name = "contact",
       .summary = "one particle of contact mechanics, whose Lagrangian depends on its action",
       .equation = "L = |v|^2 / 2 - V(q) + gamma z,  z' = L:  q'' = -grad V + gamma q'",
       .source = "simoes2020, section 5",
       .parameters = with_start_and_forces(
           {choice("potential", {"free", "harmonic"}, "\"harmonic\" is V = |q|^2 / 2 (1 N/m), \"free\" is V = 0.",
                   "\"free\""),
            {.name = "external",
             .type = ValueType::table,
             .doc = "an additional potential of the distance to the origin, such as { kind = \"quartic\", k = 1.0, "
                    "beta = 2.0 "
                    "}.",
             .catalogue_name = "potentials"},
            required("gamma", ValueType::number, "1/s",
                     "derivative of L with respect to z: momenta decay at the rate -gamma, and grow if it is positive"),
            defaulted("z0", ValueType::number, "J s", "0.0", "initial action"),
            {.name = "q1",
             .type = ValueType::rows,
             .units = "m",
             .doc = "position one step after q0, instead of v0, for `herglotz` and `exact`: the method finds the "
                    "momentum that "
                    "leads there; for `exact` the step is that of [time], whatever its own"}}),
       .notes =
           "A particle of 1 kg in an open system. Integrators: `herglotz` (order 1), `gauss` and `lobatto` (contact "
           "integrators of any order), `gamma`, `time-centred`, `rk4`, the Euler methods and `exact`. Any other L with "
           "z is a system of kind `lagrangian`. Records z, hamiltonian H = |p|^2 / 2 + V - gamma z and "
           "log_hamiltonian, with H' = gamma H for the exact motion without a drive; with two axes also the angular "
           "momentum. q0 = [1.0] has one axis, [[1.0, 0.0]] two."},
      build_contact};
}

}  // namespace bathline
