// A particle in a well with one environment, for tests of environments at a temperature and after a restart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "steppers/stepper.hpp"
#include "model/problem.hpp"
#include "quartic_potential.hpp"
#include "test_world.hpp"

namespace bathline {

struct Well {
  double mass, stiffness;
  double quartic = 0.0;  ///< V = stiffness q^2/2 + quartic q^4/4
  double q0 = 0.0, v0 = 0.0;
};

inline Problem particle_in(const Well& well, std::unique_ptr<Environment> environment, std::uint32_t realisation = 0) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Constant(1, well.mass);
  system.potential = std::make_shared<QuarticPotential>(Eigen::MatrixXd::Constant(1, 1, well.stiffness), well.quartic);
  system.q0 = Eigen::VectorXd::Constant(1, well.q0);
  system.v0 = Eigen::VectorXd::Constant(1, well.v0);
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(std::move(environment));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(all), test_world());
  problem.prepare(5, realisation);
  return problem;
}

/// Copies the particles and the first environment of another problem, by its fields only, as from a checkpoint.
inline void copy_state(Problem& problem, Problem& other) {
  problem.q = other.q;
  problem.p = other.p;
  const std::vector<StateField> from = other.environments()[0]->fields();
  std::vector<StateField> to = problem.environments()[0]->fields();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(from[i].values.size(), to[i].values.size());
    std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
  }
  problem.environments()[0]->fields_changed();
}

struct End {
  double q, p, total, dissipated;
};

/// The particle and the ledger after `steps` steps.
inline End end_of(Problem& problem, const Scheme& scheme, double h, int steps) {
  EXPECT_FALSE(make_stepper(scheme, problem, h)->advance(steps));
  problem.broadcast_particles();
  const EnergyLedger ledger = problem.energies();
  return {problem.q[0], problem.p[0], ledger.total(), ledger.dissipated};
}

/// The total variation of an entry of the ledger over `steps` steps, and the largest change of the total.
struct LedgerWalk {
  LedgerWalk(Problem& problem, Stepper& stepper, int steps, double EnergyLedger::*entry) {
    const EnergyLedger begin = problem.energies();
    double previous = begin.*entry;
    for (int step = 0; step < steps; ++step) {
      EXPECT_FALSE(stepper.advance(1));
      const EnergyLedger ledger = problem.energies();
      heat += std::abs(ledger.*entry - previous);
      previous = ledger.*entry;
      worst = std::max(worst, std::abs(ledger.total() - begin.total()));
    }
  }
  double heat = 0.0, worst = 0.0;
};

}  // namespace bathline
