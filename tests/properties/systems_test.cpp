// Every system of particles in the catalogue: its forces derive from its energy, and its properties are as stated.
#include <gtest/gtest.h>

#include "differences.hpp"
#include "random_numbers.hpp"
#include "solve/dense.hpp"
#include "system_forms.hpp"

namespace bathline::systems_test {
namespace {

TEST(Systems, GradientsAndHessiansAreDerivativesOfTheEnergy) {
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
      const Eigen::VectorXd expected_gradient =
          gradient_of([&](const Eigen::VectorXd& point) { return system.potential->value(point); }, q);
      EXPECT_LT((gradient - expected_gradient).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + gradient.norm()));

      Eigen::MatrixXd hessian(q.size(), q.size());
      system.potential->hessian(q, hessian);
      const Eigen::MatrixXd expected_hessian = jacobian_of(
          [&](const Eigen::VectorXd& point) {
            Eigen::VectorXd result(point.size());
            system.potential->gradient(point, result);
            return result;
          },
          q);
      EXPECT_LT((hessian - expected_hessian).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + hessian.norm()));
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

TEST(Systems, HaveMassesAPassiveDampingAndObservablesOfTheirSize) {
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
    // The damping of contact systems may supply energy.
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

TEST(Systems, JacobiansOfAForceAreDerivativesOfItsValue) {
  int count = 0;
  for (const SystemKind& kind : systems()) {
    const ParticleSystem system = build(kind);
    if (!system.force) continue;
    SCOPED_TRACE(kind.entry.name);
    ++count;
    RandomNumbers random(72);
    for (int sample = 0; sample < 5; ++sample) {
      Eigen::VectorXd q(system.size()), v(system.size());
      for (double& x : q) x = random.uniform(0.5, 1.5);
      for (double& x : v) x = random.uniform(0.5, 1.5);
      Eigen::MatrixXd df_dq, df_dv;
      system.force->jacobians(q, v, 0.0, df_dq, df_dv);
      const auto value = [&](const Eigen::VectorXd& point, const Eigen::VectorXd& velocity) {
        Eigen::VectorXd result(point.size());
        system.force->value(point, velocity, 0.0, result);
        return result;
      };
      const Eigen::MatrixXd expected_df_dq =
          jacobian_of([&](const Eigen::VectorXd& point) { return value(point, v); }, q);
      const Eigen::MatrixXd expected_df_dv =
          jacobian_of([&](const Eigen::VectorXd& point) { return value(q, point); }, v);
      EXPECT_LT((df_dq - expected_df_dq).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + df_dq.norm()));
      EXPECT_LT((df_dv - expected_df_dv).cwiseAbs().maxCoeff(), 1e-9 * (1.0 + df_dv.norm()));
      EXPECT_GT(df_dv.norm(), 0.0);
    }
  }
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace bathline::systems_test
