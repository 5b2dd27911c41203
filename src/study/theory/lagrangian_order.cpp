// Errors of doubled discrete Lagrangians between random positions.
// Tested by tests/study/doubled_variables_test.cpp.
#include "study/theory/lagrangian_order.hpp"

#include <cmath>
#include <optional>

#include "random/streams.hpp"
#include "study/theory/doubled_lagrangian.hpp"
#include "study/theory/random_positions.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;

constexpr int exact_stages = 9;

/// L~_d between these ends; the columns are x0, x1, y0, y1. Nothing where the stationary paths are not found.
std::optional<double> value_between(const DoubledLagrangian& doubled, const MatrixXd& ends) {
  const auto paths = doubled.stationary(ends.leftCols(2), ends.rightCols(2));
  if (!paths) return std::nullopt;
  return doubled.action(paths->x, paths->y).value;
}

}  // namespace

double add_lagrangian_errors(const Problem& problem, const GalerkinRule& rule, const std::vector<double>& steps,
                             std::int64_t draws, double spread, std::uint64_t seed, MeasuredOrder& errors) {
  const ParticleSystem& system = problem.system();
  for (const double h : steps) {
    const DoubledLagrangian discrete(system, problem.damping(), rule, h);
    const DoubledLagrangian exact(system, problem.damping(), lobatto_rule(exact_stages), h);
    RandomPositions positions(system.q0, spread, streams::lagrangian_positions.key(seed, 0)),
        velocities(system.v0, spread, streams::lagrangian_velocities.key(seed, 0));
    errors.begin_step();
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const MatrixXd begin = positions.positions(2), displacements = h * velocities.positions(2);
      MatrixXd ends(begin.rows(), 4);
      ends << begin.col(0), begin.col(0) + displacements.col(0), begin.col(1), begin.col(1) + displacements.col(1);
      const std::optional<double> value = value_between(discrete, ends), exact_value = value_between(exact, ends);
      if (!value || !exact_value) return h;
      errors.add(std::abs(*value - *exact_value) / h, std::abs(*exact_value) / h, static_cast<std::size_t>(draws));
    }
  }
  if (!steps.empty()) errors.fit(steps, steps.front());
  return 0.0;
}

}  // namespace bathline
