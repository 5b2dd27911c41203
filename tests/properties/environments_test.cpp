// Every environment of the catalogue: its forces are those of its energy, and its description as a chain is what it
// does.
#include <gtest/gtest.h>

#include <cmath>

#include "catalogue_sections.hpp"
#include "differences.hpp"
#include "model/environment_catalogue.hpp"
#include "petsc_world.hpp"
#include "scene.hpp"
#include "solve/dense.hpp"

namespace bathline::environments_test {
namespace {

constexpr double step = 0.1;

/// The environments of every kind that `far_end`s and forms of description give, on two planar particles.
struct Built {
  std::string name;
  std::unique_ptr<Environment> environment;
};

std::vector<Built> build_all() {
  RandomNumbers random(81);
  const OpenSystem system = random_particles(2, 2, random);
  std::vector<Built> all;
  for (const EnvironmentKind& kind : environments()) {
    std::size_t before = all.size();
    for (const std::vector<std::string>& form :
         std::vector<std::vector<std::string>>{{},
                                               {"grid", "damping"},
                                               {"damping", "length", "speed"},
                                               {"M", "lambda"},
                                               {"b", "k"},
                                               {"oscillators", "damping", "omega_max"},
                                               {"stiffness", "rate", "frequency"}}) {
      Section section = example_section(kind.entry, form);
      std::vector<std::string> ends = {""};
      if (has_parameter(kind.entry, "far_end")) ends = {"fixed", "free", "matched"};
      for (const std::string& end : ends) {
        if (!end.empty()) section.set("far_end", end, {});
        Mistakes mistakes;
        std::unique_ptr<Environment> environment = kind.build(section, system, {step, 1.0}, test_world(), mistakes);
        if (!mistakes.empty()) continue;
        environment->prepare({});
        all.push_back({kind.entry.name + " " + end, std::move(environment)});
      }
    }
    EXPECT_GT(all.size(), before) << "no description of " << kind.entry.name << " is accepted";
  }
  return all;
}

/// Puts the sites at `x` = displacements, then momenta.
void place(Environment& environment, const Eigen::VectorXd& x) {
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

/// M, K, C and coupling of the chain, for one axis.
struct Matrices {
  Eigen::VectorXd mass, coupling, dashpots, slips;
  Eigen::MatrixXd stiffness;
};

Matrices matrices_of(const Assembly& chain) {
  const auto n = static_cast<Eigen::Index>(chain.mass.size());
  Matrices m{Eigen::Map<const Eigen::VectorXd>(chain.mass.data(), n), Eigen::VectorXd::Zero(n),
             Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(n), Eigen::MatrixXd::Zero(n, n)};
  for (const Assembly::Spring& spring : chain.springs) {
    m.stiffness(spring.first, spring.first) += spring.stiffness;
    m.stiffness(spring.second, spring.second) += spring.stiffness;
    m.stiffness(spring.first, spring.second) -= spring.stiffness;
    m.stiffness(spring.second, spring.first) -= spring.stiffness;
  }
  for (const auto& [site, k] : chain.to_ground) m.stiffness(site, site) += k;
  for (const auto& [site, k] : chain.to_head) {
    m.stiffness(site, site) += k;
    m.coupling[site] += k;
  }
  for (const auto& [site, d] : chain.dashpots) m.dashpots[site] += d;
  for (const auto& [site, slip] : chain.slips) m.slips[site] += slip;
  return m;
}

TEST(Environments, ForceOnTheHeadIsTheSlopeOfTheEnergy) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    Environment& environment = *built.environment;
    place(environment, random_vector(4 * environment.facts().sites, 3));
    const Eigen::VectorXd head = random_vector(2, 4);
    std::vector<double> force(2);
    environment.force({head.data(), 2}, force);
    const Eigen::VectorXd slope =
        gradient_of([&](const Eigen::VectorXd& x) { return energy_of(environment, x); }, head);
    EXPECT_NEAR(force[0], -slope[0], 1e-9 * (1.0 + std::abs(slope[0])));
    EXPECT_NEAR(force[1], -slope[1], 1e-9 * (1.0 + std::abs(slope[1])));
    EXPECT_GT(slope.norm(), 1e-3);
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

TEST(Environments, ChainHasTheirEnergyAndTheirForces) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    Environment& environment = *built.environment;
    const std::int64_t sites = environment.facts().sites;
    const Matrices chain = matrices_of(environment.assemble(sites));
    ASSERT_EQ(chain.mass.size(), sites);
    const Eigen::VectorXd start = random_vector(4 * sites, 5), head = random_vector(2, 6);
    const Eigen::VectorXd at_rest = Eigen::VectorXd::Zero(2);
    place(environment, start);
    using Axis = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>;
    double energy = 0.0;
    for (int axis = 0; axis < 2; ++axis) {
      const Eigen::VectorXd w = Axis(start.data() + axis, sites), p = Axis(start.data() + 2 * sites + axis, sites);
      energy += 0.5 * p.cwiseAbs2().cwiseQuotient(chain.mass).sum() + 0.5 * w.dot(chain.stiffness * w) -
                head[axis] * chain.coupling.dot(w) + 0.5 * chain.coupling.sum() * head[axis] * head[axis];
    }
    EXPECT_NEAR(energy_of(environment, head), energy, 1e-12 * energy);

    // A kick gives every site its force, with the dashpots' at the velocity before it; a drift moves it by its
    // velocity.
    // An Euler step does both at once. Splittings take decays apart from kicks and drifts.
    using Kind = Substep::Kind;
    for (const Kind kind : {Kind::kick, Kind::drift, Kind::stage}) {
      if (kind != Kind::stage && environment.facts().fastest_decay > 0.0) continue;
      const ExplicitScheme scheme = kind == Kind::stage ? runge_kutta({{}}, {1.0}) : splitting({{kind, 1.0}});
      place(environment, start);
      const auto march = environment.explicit_march(scheme, step);
      march->open({});
      march->substep(scheme.substeps[0], {{head.data(), 2}, {at_rest.data(), 2}});
      march->close();
      std::vector<double> w, p;
      environment.gather_state(w, p);
      for (int axis = 0; axis < 2; ++axis) {
        const Eigen::VectorXd w0 = Axis(start.data() + axis, sites), p0 = Axis(start.data() + 2 * sites + axis, sites);
        const Eigen::VectorXd v0 = p0.cwiseQuotient(chain.mass);
        const Eigen::VectorXd force =
            -chain.stiffness * w0 + chain.coupling * head[axis] - chain.dashpots.cwiseProduct(v0);
        const Eigen::VectorXd pulls = -chain.stiffness * w0 + chain.coupling * head[axis];
        const Eigen::VectorXd slipping = v0 + chain.slips.cwiseProduct(pulls);
        const Eigen::VectorXd w1 = kind != Kind::kick ? Eigen::VectorXd(w0 + step * slipping) : w0;
        const Eigen::VectorXd p1 = kind != Kind::drift ? Eigen::VectorXd(p0 + step * force) : p0;
        EXPECT_LT((Axis(w.data() + axis, sites) - w1).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_LT((Axis(p.data() + axis, sites) - p1).cwiseAbs().maxCoeff(), 1e-12);
      }
    }
  }
}

TEST(Environments, StateNumbersAreThoseOfTheChain) {
  for (const Built& built : build_all()) {
    SCOPED_TRACE(built.name);
    const Environment& environment = *built.environment;
    const Matrices chain = matrices_of(environment.assemble(environment.facts().sites));
    const Eigen::VectorXd root = chain.mass.cwiseSqrt().cwiseInverse();
    const double highest =
        std::sqrt(largest_symmetric_eigenvalue(root.asDiagonal() * chain.stiffness * root.asDiagonal()));
    EXPECT_LE(highest, environment.facts().highest_frequency);
    EXPECT_GT(environment.facts().damping, 0.0);
    EXPECT_GT(environment.facts().echo.time, 0.0);
    EXPECT_EQ(environment.facts().loses_energy, chain.dashpots.norm() > 0.0);
    if (environment.facts().loses_energy) {
      EXPECT_TRUE(std::isinf(environment.facts().echo.time));
    } else {
      EXPECT_FALSE(std::isinf(environment.facts().echo.time));
    }
    EXPECT_FALSE(environment.name().empty());
    EXPECT_GE(environment.bytes(ExactFlow{}), 2 * 2 * 8 * environment.facts().sites);
  }
}

// A long environment is a damper: a head that moves at constant speed feels D times that speed until the echo.
TEST(Environments, PullAtTheHeadLikeTheDamperThatTheyState) {
  RandomNumbers random(82);
  const OpenSystem system = random_particles(2, 2, random);
  for (const EnvironmentKind& kind : environments()) {
    if (!has_parameter(kind.entry, "sites")) continue;
    SCOPED_TRACE(kind.entry.name);
    Section section = example_section(kind.entry, {"grid", "damping"});
    section.set("sites", 400L, {});
    Mistakes mistakes;
    const std::unique_ptr<Environment> environment = kind.build(section, system, {step, 1.0}, test_world(), mistakes);
    ASSERT_TRUE(mistakes.empty()) << mistakes.report();
    environment->prepare({});
    EXPECT_NEAR(environment->facts().damping, section.number("damping"), 1e-14);
    EXPECT_NEAR(environment->facts().echo.time, 2.0 * 400 * step, 1e-9);
    const ExplicitScheme scheme = splitting({{Substep::Kind::drift, 1.0}, {Substep::Kind::kick, 1.0}});
    const auto march = environment->explicit_march(scheme, step);
    const double speed = 1.3;
    double worst = 0.0, after = 0.0;
    for (int k = 0; k < 900; ++k) {
      const double t = (k + 1) * step;
      const std::vector<double> head = {speed * t, 0.0};
      march->open({});
      march->substep(scheme.substeps[0], {head, {}});
      std::vector<double> force(2);
      march->force({head, {}}, force);
      march->substep(scheme.substeps[1], {head, {}});
      march->close();
      const double deviation = std::abs(force[0] + environment->facts().damping * speed);
      if (t < environment->facts().echo.time) worst = std::max(worst, deviation);
      if (t > environment->facts().echo.time + 1.0) after = std::max(after, deviation);
    }
    EXPECT_LT(worst, 1e-9);
    EXPECT_GT(after, 0.1);
  }
}

}  // namespace
}  // namespace bathline::environments_test
