// The matrix of one step of an integrator on a linear system.
#include "advance/step_matrix.hpp"

#include "advance/stepper.hpp"

namespace bathline {

Eigen::MatrixXd step_matrix(const Scheme& scheme, Problem& problem, double h) {
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
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
  matrix.bottomRightCorner(n, n) = inverse_mass * by_v;
  return matrix;
}

}  // namespace bathline
