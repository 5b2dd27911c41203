// An oscillator on a line, and methods by name, for benchmarks.
#pragma once

#include "steppers/stepper.hpp"
#include "bench_world.hpp"
#include "methods/method.hpp"
#include "model/line/line.hpp"

namespace bathline {

/// An oscillator that kicks `line`.
inline Problem oscillator_on(std::unique_ptr<Environment> line) {
  ParticleSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1));
  system.q0 = Eigen::VectorXd::Zero(1);
  system.v0 = Eigen::VectorXd::Ones(1);
  std::vector<std::unique_ptr<Environment>> environments;
  environments.push_back(std::move(line));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(environments), bench_world());
  problem.prepare();
  return problem;
}

/// An oscillator on a fixed line of `sites` sites on every rank, with h sqrt(lambda/M) = 1/2.
inline Problem oscillator_on_a_line(std::int64_t sites, bool unequal, bool skip_resting = false) {
  LineOptions options{.skip_resting = skip_resting};
  if (unequal) {
    std::vector<LineSite> table;
    for (int j = 0; j < 7; ++j) table.push_back({1.0 + 0.1 * j, 1.0});
    options.table = std::make_shared<const std::vector<LineSite>>(std::move(table));
  }
  return oscillator_on(std::make_unique<Line>("line", Attachment({{0, 1.0}}, 1), LineConstants{},
                                              sites * bench_world().size(), bench_world(), options));
}

inline Scheme gamma_scheme(double gamma) {
  Section options;
  options.set("gamma", gamma, {});
  return methods().find("gamma")->scheme(options);
}

inline PartitionedRungeKutta gauss_scheme(int stages) {
  Section options;
  options.set("stages", std::int64_t{stages}, {});
  return std::get<PartitionedRungeKutta>(methods().find("gauss")->scheme(options));
}

}  // namespace bathline
