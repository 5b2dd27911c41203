// Problems for tests, described in plain numbers: particles, a potential, damping and attached lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/line/line.hpp"
#include "model/problem.hpp"
#include "random_numbers.hpp"

namespace bathline {

struct SceneLine {
  std::vector<Attachment::Weight> weights = {{0, 1.0}};
  LineConstants constants;
  std::int64_t sites = 1;

  double dashpot() const {
    return constants.far_end == FarEnd::matched ? std::sqrt(constants.mass * constants.stiffness) : 0.0;
  }
};

struct Scene {
  ParticleSystem system;
  Eigen::MatrixXd damping;  ///< empty: none
  std::vector<SceneLine> lines;

  /// The number of degrees of freedom: particles, then line by line, site by site, axis by axis.
  int size() const {
    std::int64_t count = system.size();
    for (const SceneLine& line : lines) count += line.sites * system.axes;
    return static_cast<int>(count);
  }
};

/// Particles in a potential; at the origin and at rest if q0 and v0 are empty.
inline ParticleSystem make_particles(const Eigen::VectorXd& mass, std::shared_ptr<const Potential> potential,
                                     const Eigen::VectorXd& q0 = {}, const Eigen::VectorXd& v0 = {}, int axes = 1) {
  ParticleSystem system;
  system.particles = static_cast<int>(mass.size()) / axes;
  system.axes = axes;
  system.mass = mass;
  system.potential = std::move(potential);
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(mass.size());
  system.q0 = q0.size() > 0 ? q0 : none;
  system.v0 = v0.size() > 0 ? v0 : none;
  return system;
}

inline Eigen::MatrixXd random_matrix(int rows, int columns, RandomNumbers& random) {
  Eigen::MatrixXd matrix(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) matrix(i, j) = random.uniform();
  }
  return matrix;
}

/// Particles with masses between 1 and 2 around the origin, without forces.
inline ParticleSystem random_particles(int particles, int axes, RandomNumbers& random) {
  ParticleSystem system;
  system.particles = particles;
  system.axes = axes;
  system.mass.resize(system.size());
  system.q0.resize(system.size());
  system.v0.resize(system.size());
  for (int a = 0; a < particles; ++a) system.mass.segment(a * axes, axes).setConstant(random.uniform(1.0, 2.0));
  for (double& q : system.q0) q = random.uniform();
  for (double& v : system.v0) v = random.uniform();
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Zero(system.size(), system.size()));
  return system;
}

inline Problem make_problem(const Scene& scene, const Communicator& communicator) {
  std::vector<std::unique_ptr<Environment>> environments;
  for (const SceneLine& line : scene.lines) {
    environments.push_back(std::make_unique<Line>("line" + std::to_string(environments.size()),
                                                  Attachment(line.weights, scene.system.axes), line.constants,
                                                  line.sites, communicator));
  }
  const int n = scene.system.size();
  Eigen::MatrixXd damping = scene.damping.size() > 0 ? scene.damping : Eigen::MatrixXd(Eigen::MatrixXd::Zero(n, n));
  Problem problem(scene.system, damping, std::move(environments), communicator);
  problem.prepare();
  return problem;
}

/// Displacements from the start and momenta of all degrees of freedom, in the order of `Scene::size`.
struct PhasePoint {
  Eigen::VectorXd u, p;
};

/// Sets the state of a problem, which is given on every rank. @note Collective.
inline void set_state(Problem& problem, const PhasePoint& point) {
  const int n = problem.system().size();
  problem.q = problem.system().q0 + point.u.head(n);
  problem.p = point.p.head(n);
  std::int64_t begin = n;
  for (const auto& environment : problem.environments()) {
    const std::int64_t count = environment->properties().sites * problem.system().axes;
    environment->scatter_state({point.u.data() + begin, static_cast<std::size_t>(count)},
                               {point.p.data() + begin, static_cast<std::size_t>(count)});
    begin += count;
  }
}

/// The state of a problem on every rank. @note Collective.
inline PhasePoint get_state(Problem& problem) {
  problem.broadcast_particles();
  const Eigen::VectorXd displacement = problem.q - problem.system().q0;
  std::vector<double> u(displacement.begin(), displacement.end());
  std::vector<double> p(problem.p.begin(), problem.p.end());
  for (const auto& environment : problem.environments()) {
    const auto count = static_cast<std::size_t>(environment->properties().sites * problem.system().axes);
    std::vector<double> w, momenta;
    environment->gather_state(w, momenta);
    w.resize(count);
    momenta.resize(count);
    problem.communicator().broadcast(std::span<double>(w));
    problem.communicator().broadcast(std::span<double>(momenta));
    u.insert(u.end(), w.begin(), w.end());
    p.insert(p.end(), momenta.begin(), momenta.end());
  }
  return {Eigen::Map<Eigen::VectorXd>(u.data(), static_cast<Eigen::Index>(u.size())),
          Eigen::Map<Eigen::VectorXd>(p.data(), static_cast<Eigen::Index>(p.size()))};
}

/// A random point whose components are within `size` of the start.
inline PhasePoint random_point(int count, double size, RandomNumbers& random) {
  PhasePoint point{Eigen::VectorXd(count), Eigen::VectorXd(count)};
  for (double& u : point.u) u = random.uniform(-size, size);
  for (double& p : point.p) p = random.uniform(-size, size);
  return point;
}

}  // namespace bathline
