// Every open system of the catalogue: forces are those of its energy, and what it says of itself is so.
#include <gtest/gtest.h>

#include <cmath>

#include "catalogue_sections.hpp"
#include "differences.hpp"
#include "model/system_catalogue.hpp"
#include "random_numbers.hpp"
#include "solve/dense.hpp"

namespace bathline::systems_test {
namespace {

/// The system with any start that it accepts.
ParticleSystem build(const SystemKind& kind) {
  std::vector<std::string> more;
  for (const Parameter& parameter : kind.entry.parameters) {
    // A list of tables says for each particle what a table says for all.
    // Names of the user's choice there may be none, and how many particles there are the lists say.
    const bool is_free_table = parameter.type == ValueType::table && parameter.catalogue_name.empty();
    const bool is_told_otherwise = parameter.name == "v0" || parameter.name == "particles";
    // Formulas for every coordinate, such as a drive.
    if (parameter.type == ValueType::texts && !parameter.required) continue;
    // The example of an L has no action to begin with.
    if (parameter.name == "z0" && kind.entry.name == "lagrangian") continue;
    if (!is_told_otherwise && !is_free_table && parameter.type != ValueType::tables) more.push_back(parameter.name);
  }
  Section section = example_section(kind.entry, more);
  std::string report;
  for (std::size_t particles = 1; particles <= 4; ++particles) {
    for (std::size_t axes = 1; axes <= 3; ++axes) {
      section.set("q0", Section::Rows(particles, std::vector<double>(axes, 0.8)), {});
      // Lists whose form the type does not tell: a constant per particle, two different particles.
      for (const Parameter& parameter : kind.entry.parameters) {
        // Not every pair of particles is a chain.
        if (parameter.name == "mode_energies") section.set("mode_energies", false, {});
        if (parameter.type != ValueType::rows) continue;
        if (parameter.name == "damping") section.set("damping", Section::Rows(particles, {0.6}), {});
        if (parameter.name == "pairs") section.set("pairs", Section::Rows{{0.0, 1.0}}, {});
      }
      Mistakes mistakes;
      ParticleSystem system;
      where_readable([&] { kind.build(section, potentials(), system, mistakes); });
      if (mistakes.empty()) return system;
      if (particles == 2) report += mistakes.report() + "\n";
    }
  }
  ADD_FAILURE() << "no start fits " << kind.entry.name << ":\n" << report;
  return {};
}

TEST(Systems, ForcesAreTheSlopeOfTheEnergyAndHessiansThatOfTheForces) {
  for (const SystemKind& kind : systems()) {
    SCOPED_TRACE(kind.entry.name);
    const ParticleSystem system = build(kind);
    ASSERT_TRUE(system.potential);
    RandomNumbers random(71);
    Eigen::MatrixXd first;
    bool varies = false;
    for (int sample = 0; sample < 5; ++sample) {
      Eigen::VectorXd q(system.size());
      for (double& x : q) x = random.uniform(0.5, 1.5) * (random.uniform() < 0.0 ? -1.0 : 1.0);
      Eigen::VectorXd gradient(q.size());
      system.potential->gradient(q, gradient);
      const Eigen::VectorXd slope =
          gradient_of([&](const Eigen::VectorXd& at) { return system.potential->value(at); }, q);
      EXPECT_LT((gradient - slope).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + gradient.norm()));

      Eigen::MatrixXd hessian(q.size(), q.size());
      system.potential->hessian(q, hessian);
      const Eigen::MatrixXd slopes = jacobian_of(
          [&](const Eigen::VectorXd& at) {
            Eigen::VectorXd result(at.size());
            system.potential->gradient(at, result);
            return result;
          },
          q);
      EXPECT_LT((hessian - slopes).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + hessian.norm()));
      EXPECT_LE((hessian - hessian.transpose()).cwiseAbs().maxCoeff(), 1e-14 * hessian.norm());
      if (sample == 0) first = hessian;
      varies = varies || (hessian - first).norm() > 1e-9;
    }
    // Linear motion: a constant Hessian, and no force at the origin.
    Eigen::VectorXd at_origin(system.size());
    system.potential->gradient(Eigen::VectorXd::Zero(system.size()), at_origin);
    EXPECT_EQ(system.potential->is_quadratic(), !varies && at_origin.norm() == 0.0);
  }
}

TEST(Systems, HaveMassesADampingThatOnlyTakesAndObservablesOfTheirSize) {
  for (const SystemKind& kind : systems()) {
    SCOPED_TRACE(kind.entry.name);
    const ParticleSystem system = build(kind);
    ASSERT_EQ(system.mass.size(), system.size());
    EXPECT_TRUE(system.mass.minCoeff() > 0.0 || system.lagrangian);
    EXPECT_EQ(system.q0, Eigen::VectorXd::Constant(system.size(), 0.8));
    EXPECT_EQ(system.v0, Eigen::VectorXd::Zero(system.size()));
    ASSERT_TRUE(system.damping.has_value()) << "none of its parameters is its damping";
    const Eigen::MatrixXd& c = *system.damping;
    EXPECT_EQ((c - c.transpose()).norm(), 0.0);
    // Contact systems may be fed by what else is friction.
    EXPECT_TRUE(system.contact || -largest_symmetric_eigenvalue(-c) >= -1e-14);
    EXPECT_TRUE(c.norm() > 0.0 || system.force);
    const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(system.size(), 0.3, 0.9);
    for (const Observable& observable : system.observables) {
      EXPECT_FALSE(observable.long_name.empty());
      EXPECT_EQ(observable.value(system.q0, v, 0.0).size(), observable.size) << observable.name;
      EXPECT_TRUE(observable.value(system.q0, v, 0.0).allFinite()) << observable.name;
      if (observable.integrand) {
        EXPECT_EQ(observable.integrand(system.q0, v).size(), observable.size) << observable.name;
      }
    }
  }
}

TEST(Systems, SlopesOfAForceAreThoseOfItsValue) {
  int found = 0;
  for (const SystemKind& kind : systems()) {
    const ParticleSystem system = build(kind);
    if (!system.force) continue;
    SCOPED_TRACE(kind.entry.name);
    ++found;
    RandomNumbers random(72);
    for (int sample = 0; sample < 5; ++sample) {
      Eigen::VectorXd q(system.size()), v(system.size());
      for (double& x : q) x = random.uniform(0.5, 1.5);
      for (double& x : v) x = random.uniform(0.5, 1.5);
      Eigen::MatrixXd by_q, by_v;
      system.force->jacobians(q, v, 0.0, by_q, by_v);
      const auto value = [&](const Eigen::VectorXd& at, const Eigen::VectorXd& velocity) {
        Eigen::VectorXd result(at.size());
        system.force->value(at, velocity, 0.0, result);
        return result;
      };
      const Eigen::MatrixXd slopes_q = jacobian_of([&](const Eigen::VectorXd& at) { return value(at, v); }, q);
      const Eigen::MatrixXd slopes_v = jacobian_of([&](const Eigen::VectorXd& at) { return value(q, at); }, v);
      EXPECT_LT((by_q - slopes_q).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + by_q.norm()));
      EXPECT_LT((by_v - slopes_v).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + by_v.norm()));
      EXPECT_GT(by_v.norm(), 0.0);
    }
  }
  EXPECT_GE(found, 1);
}

}  // namespace
}  // namespace bathline::systems_test
