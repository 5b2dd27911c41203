// The two halves of a step with several stages, before and after the linear system of its stage momenta is solved.
#include "model/line/implicit/stage_step.hpp"

#include "model/line/update.hpp"

namespace bathline {

namespace {

using Stages = Eigen::Map<const Eigen::VectorXd>;

/// Weights of the stage momenta in the mean of the stage displacements.
Eigen::VectorXd mean_weights(const CollocationScheme& scheme) { return scheme.a.transpose() * scheme.b; }

}  // namespace

StageMatrix LineStageStep::matrix() const {
  StageMatrix matrix = cut_matrix();
  if (line.far_end == FarEnd::fixed) matrix.last += matrix.coupling;
  matrix.last += h * line.dashpot / line.mass * scheme.a_hat;
  return matrix;
}

StageMatrix LineStageStep::cut_matrix() const {
  const Eigen::MatrixXd coupling = h * h * line.stiffness / line.mass * scheme.a_hat * scheme.a;
  return {coupling, Eigen::MatrixXd::Identity(scheme.stages(), scheme.stages()) + coupling};
}

void LineStageStep::begin(const double* w, const double* p, double* stage, std::int64_t n, double left,
                          double right) const {
  const int s = scheme.stages();
  const Eigen::VectorXd strength = h * line.stiffness * scheme.a_hat.rowwise().sum();
  for (std::int64_t j = 0; j < n; ++j) {
    const double difference = ((j + 1 < n ? w[j + 1] : right) - w[j]) - (w[j] - left);
    for (int i = 0; i < s; ++i) stage[j * s + i] = std::fma(strength[i], difference, p[j]);
    left = w[j];
  }
}

Eigen::VectorXd LineStageStep::force(const Eigen::VectorXd& constant, double stretch) const {
  Eigen::VectorXd force = line.stiffness * h / line.mass * scheme.a * constant;
  force.array() += line.stiffness * stretch;
  return force;
}

Eigen::MatrixXd LineStageStep::damping(const Eigen::MatrixXd& slope) const {
  return line.stiffness * h * scheme.a * (Eigen::MatrixXd::Identity(scheme.stages(), scheme.stages()) - slope);
}

void LineStageStep::move_to_means(double* w, double* stage, std::int64_t n) const {
  const int s = scheme.stages();
  const Eigen::VectorXd weights = mean_weights(scheme);
  const double drift = h / line.mass;
  for (std::int64_t j = 0; j < n; ++j) {
    const Stages momenta(stage + j * s, s);
    const double to_mean = weights.dot(momenta), to_end = scheme.b.dot(momenta);
    w[j] = drifted(w[j], drift, to_mean);
    stage[j * s] = drift * (to_end - to_mean);
  }
}

double LineStageStep::mean(double from, const Eigen::VectorXd& velocities) const {
  return from + h * mean_weights(scheme).dot(velocities);
}

void LineStageStep::end(double* w, double* p, const double* stage, std::int64_t n, double left, double right) const {
  const int s = scheme.stages();
  const double strength = h * line.stiffness;
  for (std::int64_t j = 0; j < n; ++j) {
    const double here = w[j];
    p[j] = kicked(p[j], strength, left, here, j + 1 < n ? w[j + 1] : right);
    w[j] = here + stage[j * s];
    left = here;
  }
}

double LineStageStep::drag(const double* stage, double& p) const {
  const Stages momenta(stage, scheme.stages());
  const double loss = h * line.dashpot / line.mass;
  p -= loss * scheme.b.dot(momenta);
  return loss / line.mass * scheme.b.dot(momenta.cwiseAbs2());
}

}  // namespace bathline
