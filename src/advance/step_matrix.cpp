// The matrix of one step of an integrator on a linear system.
#include "advance/step_matrix.hpp"

#include <algorithm>

#include "advance/stepper.hpp"
#include "model/gyration.hpp"

namespace bathline {

namespace {

/// Gives the noise of a problem, if it has any, numbers that are all zero but for one, if that is wanted.
void set_noise(Problem& problem, int draw_of_one, std::size_t place_of_one) {
  if (problem.noise() == nullptr) return;
  problem.noise()->take_from([=](std::int64_t, int draw, std::span<double> numbers) {
    std::fill(numbers.begin(), numbers.end(), 0.0);
    if (draw == draw_of_one && place_of_one < numbers.size()) numbers[place_of_one] = 1.0;
  });
}

}  // namespace

Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  const Eigen::Index n = problem.q.size();
  Eigen::MatrixXd gains = Eigen::MatrixXd::Zero(2 * n, 4 * n);
  for (Eigen::Index column = 0; column < gains.cols(); ++column) {
    set_noise(problem, column < 2 * n ? 0 : 1, static_cast<std::size_t>(column % (2 * n)));
    problem.q.setZero();
    problem.p.setZero();
    stepper->advance(1);
    problem.share_particles();
    gains.col(column) << problem.q, problem.p.cwiseQuotient(problem.system().mass);
  }
  set_noise(problem, -1, 0);
  return gains * gains.transpose();
}

Eigen::MatrixXd step_matrix(const Scheme& scheme, Problem& problem, double h) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  set_noise(problem, -1, 0);
  const Eigen::VectorXd& mass = problem.system().mass;
  const Eigen::Index n = problem.q.size();
  Eigen::MatrixXd matrix(2 * n, 2 * n);
  for (Eigen::Index column = 0; column < 2 * n; ++column) {
    const Eigen::VectorXd unit = Eigen::VectorXd::Unit(2 * n, column);
    problem.q = unit.head(n);
    problem.p = mass.cwiseProduct(unit.tail(n));
    stepper->advance(1);
    problem.share_particles();
    matrix.col(column) << problem.q, problem.p.cwiseQuotient(mass);
  }
  return matrix;
}

Eigen::MatrixXd work_matrix(const Scheme& scheme, Problem& problem, double h) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  const Eigen::VectorXd& mass = problem.system().mass;
  const Eigen::Index n = problem.q.size();
  const auto work_from = [&](const Eigen::VectorXd& x) {
    problem.q = x.head(n);
    problem.p = mass.cwiseProduct(x.tail(n));
    problem.dissipated = 0.0;
    stepper->advance(1);
    return problem.energies_of_particles().dissipated;
  };
  Eigen::MatrixXd matrix(2 * n, 2 * n);
  const auto unit = [&](Eigen::Index i) { return Eigen::VectorXd(Eigen::VectorXd::Unit(2 * n, i)); };
  for (Eigen::Index i = 0; i < 2 * n; ++i) {
    matrix(i, i) = work_from(unit(i));
    for (Eigen::Index j = 0; j < i; ++j) {
      matrix(i, j) = matrix(j, i) = 0.25 * (work_from(unit(i) + unit(j)) - work_from(unit(i) - unit(j)));
    }
  }
  return matrix;
}

Eigen::MatrixXd motion_matrix(const Problem& problem) {
  const Eigen::Index n = problem.q.size();
  Eigen::MatrixXd hessian(n, n);
  problem.system().potential->hessian(problem.system().q0, hessian);
  const auto inverse_mass = problem.system().mass.cwiseInverse().asDiagonal();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  matrix.topRightCorner(n, n).setIdentity();
  Eigen::MatrixXd by_q, by_v;
  problem.slopes(problem.system().q0, problem.system().v0, 0.0, by_q, by_v);
  matrix.bottomLeftCorner(n, n) = inverse_mass * (by_q - hessian);
  const double field = problem.system().magnetic_field;
  if (field != 0.0) by_v += magnetic_slopes(field, n);
  matrix.bottomRightCorner(n, n) = inverse_mass * by_v;
  return matrix;
}

}  // namespace bathline
