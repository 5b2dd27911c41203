// Every environment of the catalogue, in every form that its own description allows: its forces derive from its energy,
// its lumped network has its equations, and with every scheme that it supports it resumes from its state and has the
// same path on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>

#include "differences.hpp"
#include "environment_forms.hpp"
#include "method_cases.hpp"
#include "petsc_world.hpp"
#include "self_world.hpp"
#include "simulation.hpp"
#include "solve/dense.hpp"

namespace bathline::environments_test {
namespace {

constexpr double step = forms_step;

struct Built {
  std::string name;
  std::unique_ptr<Environment> environment;
};

/// The environments that store all of their sites. Chains between two particles have other axes than these:
/// tests/model/line/nonlinear_line_test.cpp.
std::vector<Built> build_all() {
  std::vector<Built> all;
  for (const Form& form : all_forms()) {
    std::unique_ptr<Environment> environment = build(form, test_world());
    if (environment->properties().sites == 0 || environment->attachment().axes() != 2) continue;
    environment->prepare({});
    all.push_back({form.name, std::move(environment)});
  }
  return all;
}

/// Sets the state of the sites to `x`, displacements, then momenta.
void set_sites(Environment& environment, const Eigen::VectorXd& x) {
  const auto n = static_cast<std::size_t>(x.size() / 2);
  environment.scatter_state({x.data(), n}, {x.data() + n, n});
}

Eigen::VectorXd random_vector(Eigen::Index size, std::uint64_t seed) {
  RandomNumbers random(seed);
  Eigen::VectorXd x(size);
  for (double& value : x) value = random.uniform();
  return x;
}

/// Total energy with the head at `head`.
double energy_of(Environment& environment, const Eigen::VectorXd& head) {
  const EnvironmentEnergy energy = environment.energy({head.data(), static_cast<std::size_t>(head.size())});
  return energy.environment + energy.interaction;
}

/// M, K, C and coupling of the network, for one axis.
struct Matrices {
  Eigen::VectorXd mass, coupling, dashpots, mobilities;
  Eigen::MatrixXd stiffness;
};

Matrices matrices_of(const LumpedNetwork& network) {
  const auto n = static_cast<Eigen::Index>(network.mass.size());
  Matrices m{Eigen::Map<const Eigen::VectorXd>(network.mass.data(), n), Eigen::VectorXd::Zero(n),
             Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n)};
  for (const LumpedNetwork::Spring& spring : network.springs) {
    m.stiffness(spring.first, spring.first) += spring.stiffness;
    m.stiffness(spring.second, spring.second) += spring.stiffness;
    m.stiffness(spring.first, spring.second) -= spring.stiffness;
    m.stiffness(spring.second, spring.first) -= spring.stiffness;
  }
  for (const auto& [site, k] : network.to_ground) m.stiffness(site, site) += k;
  for (const auto& [site, k] : network.to_head) {
    m.stiffness(site, site) += k;
    m.coupling[site] += k;
  }
  for (const auto& [site, d] : network.dashpots) m.dashpots[site] += d;
  for (const auto& [site, mobility] : network.mobilities) m.mobilities[site] += mobility;
  return m;
}

TEST(Environments, ForceOnTheHeadIsMinusTheGradientOfTheEnergy) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    Environment& environment = *built.environment;
    set_sites(environment, random_vector(4 * environment.properties().sites, 3));
    const Eigen::VectorXd head = random_vector(2, 4);
    std::vector<double> force(2);
    environment.force({head.data(), 2}, force);
    const Eigen::VectorXd gradient =
        gradient_of([&](const Eigen::VectorXd& x) { return energy_of(environment, x); }, head);
    EXPECT_NEAR(force[0], -gradient[0], 1e-9 * (1.0 + std::abs(gradient[0])));
    EXPECT_NEAR(force[1], -gradient[1], 1e-9 * (1.0 + std::abs(gradient[1])));
    EXPECT_GT(gradient.norm(), 1e-3);
  }
}

TEST(Environments, AtRestAtTheHeadThereIsNoEnergyAndNoForce) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    std::vector<double> force(2, 1.0);
    built.environment->force(std::vector<double>{0.0, 0.0}, force);
    EXPECT_EQ(force, std::vector<double>(2, 0.0));
    EXPECT_EQ(energy_of(*built.environment, Eigen::VectorXd::Zero(2)), 0.0);
  }
}

TEST(Environments, NetworkHasTheirEnergyAndTheirForces) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    Environment& environment = *built.environment;
    const std::int64_t sites = environment.properties().sites;
    const Matrices network = matrices_of(environment.assemble(sites));
    ASSERT_EQ(network.mass.size(), sites);
    const Eigen::VectorXd start = random_vector(4 * sites, 5), head = random_vector(2, 6);
    const Eigen::VectorXd at_rest = Eigen::VectorXd::Zero(2);
    set_sites(environment, start);
    using Axis = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>;
    double energy = 0.0;
    for (int axis = 0; axis < 2; ++axis) {
      const Eigen::VectorXd w = Axis(start.data() + axis, sites), p = Axis(start.data() + 2 * sites + axis, sites);
      energy += 0.5 * p.cwiseAbs2().cwiseQuotient(network.mass).sum() + 0.5 * w.dot(network.stiffness * w) -
                head[axis] * network.coupling.dot(w) + 0.5 * network.coupling.sum() * head[axis] * head[axis];
    }
    EXPECT_NEAR(energy_of(environment, head), energy, 1e-12 * energy);

    // A kick gives every site its force, with the dashpots' at the velocity before it; a drift moves it by its
    // velocity. An Euler step does both at once. Splittings solve decays separately from kicks and drifts.
    using Kind = Substep::Kind;
    for (const Kind kind : {Kind::kick, Kind::drift, Kind::stage}) {
      if (kind != Kind::stage && environment.properties().fastest_decay > 0.0) continue;
      const ExplicitScheme scheme = kind == Kind::stage ? runge_kutta({{}}, {1.0}) : splitting({{kind, 1.0}});
      set_sites(environment, start);
      const auto environment_stepper = environment.explicit_stepper(scheme, step);
      environment_stepper->begin_block({});
      environment_stepper->substep(scheme.substeps[0], {{head.data(), 2}, {at_rest.data(), 2}});
      environment_stepper->end_block();
      std::vector<double> w, p;
      environment.gather_state(w, p);
      for (int axis = 0; axis < 2; ++axis) {
        const Eigen::VectorXd w0 = Axis(start.data() + axis, sites), p0 = Axis(start.data() + 2 * sites + axis, sites);
        const Eigen::VectorXd v0 = p0.cwiseQuotient(network.mass);
        const Eigen::VectorXd force =
            -network.stiffness * w0 + network.coupling * head[axis] - network.dashpots.cwiseProduct(v0);
        const Eigen::VectorXd spring_force = -network.stiffness * w0 + network.coupling * head[axis];
        const Eigen::VectorXd velocity = v0 + network.mobilities.cwiseProduct(spring_force);
        const Eigen::VectorXd w1 = kind != Kind::kick ? Eigen::VectorXd(w0 + step * velocity) : w0;
        const Eigen::VectorXd p1 = kind != Kind::drift ? Eigen::VectorXd(p0 + step * force) : p0;
        EXPECT_LT((Axis(w.data() + axis, sites) - w1).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_LT((Axis(p.data() + axis, sites) - p1).cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(Environments, PropertiesAreThoseOfTheNetwork) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    const Environment& environment = *built.environment;
    const Matrices network = matrices_of(environment.assemble(environment.properties().sites));
    const Eigen::VectorXd root = network.mass.cwiseSqrt().cwiseInverse();
    const double highest =
        std::sqrt(largest_symmetric_eigenvalue(root.asDiagonal() * network.stiffness * root.asDiagonal()));
    EXPECT_LE(highest, environment.properties().highest_frequency);
    EXPECT_GT(environment.properties().damping, 0.0);
    EXPECT_GT(environment.properties().echo.time, 0.0);
    EXPECT_EQ(environment.properties().loses_energy, network.dashpots.norm() + network.mobilities.norm() > 0.0);
    if (environment.properties().loses_energy) {
      EXPECT_TRUE(std::isinf(environment.properties().echo.time));
    } else {
      EXPECT_FALSE(std::isinf(environment.properties().echo.time));
    }
    EXPECT_FALSE(environment.name().empty());
    EXPECT_GE(environment.bytes(ExactFlow{}), 2 * 2 * 8 * environment.properties().sites);
  }
}

TEST(MpiEnvironments, ResumeOnAnyRanksOrStateWhyASchemeIsUnsupported) {
  // Each form is tested with a fifth of the methods, and the next forms with the others: all pairs would take five
  // times as long.
  constexpr std::size_t stride = 5;
  std::size_t form_index = 0;
  for (const Form& form : all_forms()) {
    // A semi-infinite line computes its exponentials for every scheme, which takes long:
    // tests/model/semi_infinite_line/semi_infinite_line_test.cpp.
    const EnvironmentProperties properties = build(form, test_world())->properties();
    if (properties.sites == 0 && !properties.is_white) continue;
    ++form_index;
    for (std::size_t i = form_index % stride; i < method_cases().size(); i += stride) {
      const MethodCase& method = method_cases()[i];
      if (std::holds_alternative<ExactFlow>(method.scheme)) continue;
      SCOPED_TRACE(form.name + ", " + method.name);
      const auto environment = build(form, test_world());
      if (const std::optional<std::string> reason = environment->unsupported_reason(method.scheme)) {
        EXPECT_NE(reason->find(' '), std::string::npos) << *reason;
        continue;
      }
      const auto simulation = [&](const Communicator& world) {
        return Simulation(problem_with(form, world), method.scheme, step);
      };
      Simulation whole = simulation(test_world()), first = simulation(test_world()), second = simulation(test_world()),
                 alone = simulation(self_world());
      // Where the length of blocks has no limit a short length is used.
      constexpr std::int64_t some = 7, many = 1000;
      const std::int64_t block_granularity = whole.block_granularity() < many ? whole.block_granularity() : some;
      whole.advance(block_granularity);
      whole.advance(block_granularity);
      first.advance(block_granularity);
      second.resume(first);
      second.advance(block_granularity);
      alone.advance(2 * block_granularity);
      EXPECT_EQ(second.q(), whole.q());
      EXPECT_EQ(second.p(), whole.p());
      if (std::holds_alternative<ExplicitScheme>(method.scheme)) {
        EXPECT_EQ(alone.q(), whole.q());
        EXPECT_EQ(alone.p(), whole.p());
      } else {
        EXPECT_LT((alone.q() - whole.q()).norm() + (alone.p() - whole.p()).norm(), 1e-12);
      }
    }
  }
}

// Gauss methods keep every quadratic balance of a linear system, such as the ledger.
TEST(MpiEnvironments, CloseTheLedgerToRoundOffUnderGauss) {
  const MethodCase& gauss = method_case("gauss(stages=2)");
  for (const Form& form : all_forms()) {
    SCOPED_TRACE(form.name);
    const auto environment = build(form, test_world());
    const EnvironmentProperties& properties = environment->properties();
    if (properties.sites == 0 && !properties.is_white) continue;
    if (environment->unsupported_reason(gauss.scheme)) continue;
    Simulation simulation(problem_with(form, test_world()), gauss.scheme, step);
    const double before = simulation.total_energy();
    simulation.advance(200);
    EXPECT_NEAR(simulation.total_energy(), before, 1e-12 * before);
    EXPECT_GT(std::abs(simulation.energies().particles - before), 1e-3 * before);
  }
}

/// Particles of equal masses in the quadratic potential q.K q/2 with the form's environment, coupled by formulas.
Problem coupled_problem(const Form& form, int axes, const Eigen::MatrixXd& stiffness, const Eigen::VectorXd& q0,
                        std::vector<std::string> formulas) {
  RandomNumbers random(83);
  const int size = static_cast<int>(q0.size());
  ParticleSystem system = random_particles(size / axes, axes, random);
  system.mass.setConstant(1.3);
  system.q0 = q0;
  system.v0.setZero();
  system.potential = std::make_shared<QuadraticPotential>(stiffness);
  Section section = example_section(form.kind->entry);
  for (const std::string& key : form.section.keys()) {
    if (key != "attach" && form.section.has(key)) section.set(key, form.section.value(key), {});
  }
  section.set("couple", std::move(formulas), {});
  Mistakes mistakes;
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(form.kind->build(section, system, {step, 1.0}, test_world(), mistakes));
  if (!mistakes.empty()) throw std::runtime_error(mistakes.report());
  Problem problem(system, Eigen::MatrixXd::Zero(size, size), std::move(all), test_world());
  problem.prepare(5);
  return problem;
}

// Where all masses are equal, an orthogonal combination of coordinates is a coordinate of the rotated system.
TEST(MpiEnvironments, OnACombinationOfCoordinatesAreThoseOfARotatedCoordinate) {
  Eigen::Matrix4d rotation;  // its first rows are the formulas
  rotation << 0.6, 0.0, 0.8, 0.0, 0.0, 0.28, 0.0, -0.96, -0.8, 0.0, 0.6, 0.0, 0.0, 0.96, 0.0, 0.28;
  RandomNumbers random(84);
  const Eigen::MatrixXd root = random_matrix(4, 4, random);
  const Eigen::MatrixXd stiffness = Eigen::MatrixXd::Identity(4, 4) + root * root.transpose();
  const Eigen::VectorXd q0 = random_vector(4, 85);
  constexpr std::size_t stride = 5;
  std::size_t form_index = 0, tried = 0;
  for (const Form& form : all_forms()) {
    const EnvironmentProperties properties = build(form, test_world())->properties();
    if (build(form, test_world())->attachment().axes() != 2) continue;  // a chain takes no `couple`
    const bool has_half_site = form.section.has("half_site") && form.section.boolean("half_site");
    if ((properties.sites == 0 && !properties.is_white) || has_half_site) continue;
    ++form_index;
    for (std::size_t i = form_index % stride; i < method_cases().size(); i += stride) {
      const MethodCase& method = method_cases()[i];
      SCOPED_TRACE(form.name + ", " + method.name);
      Problem four = coupled_problem(form, 1, stiffness, q0, {"0.6*x0 + 0.8*x2 + 0.3", "0.28*x1 - 0.96*x3"});
      Problem two = coupled_problem(form, 2, rotation * stiffness * rotation.transpose(), rotation * q0, {"x0", "y0"});
      if (four.environments()[0]->unsupported_reason(method.scheme)) continue;
      if (std::holds_alternative<ExactFlow>(method.scheme) && four.noise() != nullptr) continue;
      // Noise is drawn for coordinates, not for combinations of them.
      if (properties.is_white && properties.temperature > 0.0) continue;
      ++tried;
      Simulation along(std::move(four), method.scheme, step), rotated(std::move(two), method.scheme, step);
      along.advance(20);
      rotated.advance(20);
      // Some steps are beyond the limit of stability.
      const double error = (rotation * along.q() - rotated.q()).norm() + (rotation * along.p() - rotated.p()).norm();
      EXPECT_LT(error, 1e-12 * (1.0 + rotated.q().norm() + rotated.p().norm()));
      EXPECT_GT((along.q() - q0).norm(), 0.1);
    }
  }
  EXPECT_GT(tried, 20u);
}

TEST(Environments, CoupledByNamesOfCoordinatesAreAttachedToThem) {
  RandomNumbers random(81);
  const ParticleSystem system = random_particles(2, 2, random);
  const auto read = [&](const std::vector<std::string>& formulas) {
    Section section;
    section.set("couple", formulas, {});
    Mistakes mistakes;
    const std::optional<Attachment> attachment = read_couple(section, system, mistakes);
    EXPECT_TRUE(attachment) << mistakes.report();
    return attachment->terms();
  };
  EXPECT_EQ(read({"x1", "y1"}), Attachment({{1, 1.0}}, 2).terms());
  EXPECT_EQ(read({"x0 - x1", "y0 - y1"}), Attachment({{0, 1.0}, {1, -1.0}}, 2).terms());
  EXPECT_EQ(read({"2*(x0 + 3*y1) - x0/2 + 7"}), (std::vector<Attachment::Term>{{0, 0, 1.5}, {3, 0, 6.0}}));
}

// A long environment is a damper: the force on a head that moves at constant speed is D times that speed until the
// echo.
TEST(Environments, PullAtTheHeadLikeTheDamperThatTheyState) {
  RandomNumbers random(82);
  const ParticleSystem system = random_particles(2, 2, random);
  for (const EnvironmentKind& kind : environments()) {
    if (!has_parameter(kind.entry, "sites") || !has_parameter(kind.entry, "damping")) continue;
    SCOPED_TRACE(kind.entry.name);
    Section section = example_section(kind.entry, {"grid", "damping"});
    section.set("sites", 400L, {});
    Mistakes mistakes;
    const std::unique_ptr<Environment> environment = kind.build(section, system, {step, 1.0}, test_world(), mistakes);
    ASSERT_TRUE(mistakes.empty()) << mistakes.report();
    environment->prepare({});
    EXPECT_NEAR(environment->properties().damping, section.number("damping"), 1e-14);
    EXPECT_NEAR(environment->properties().echo.time, 2.0 * 400 * step, 1e-9);
    const ExplicitScheme scheme = splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}});
    const auto environment_stepper = environment->explicit_stepper(scheme, step);
    const double speed = 1.3;
    double worst = 0.0, after = 0.0;
    for (int k = 0; k < 900; ++k) {
      const double t = (k + 1) * step;
      const std::vector<double> head = {speed * t, 0.0};
      environment_stepper->begin_block({});
      environment_stepper->substep(scheme.substeps[0], {head, {}});
      std::vector<double> force(2);
      environment_stepper->force({head, {}}, force);
      environment_stepper->substep(scheme.substeps[1], {head, {}});
      environment_stepper->end_block();
      const double deviation = std::abs(force[0] + environment->properties().damping * speed);
      if (t < environment->properties().echo.time) worst = std::max(worst, deviation);
      if (t > environment->properties().echo.time + 1.0) after = std::max(after, deviation);
    }
    EXPECT_LT(worst, 1e-9);
    EXPECT_GT(after, 0.1);
  }
}

}  // namespace
}  // namespace bathline::environments_test
