// Implicit schemes with several stages on a line: the stage momenta of a site are one vector, and a block tridiagonal
// system couples those of neighbours.
//
//   P_j + c (2 P_j - P_{j-1} - P_{j+1}) = p_j 1 + h lambda (w_{j+1} - 2 w_j + w_{j-1}) a^ 1,   c = h^2 lambda/M a^ a,
//   P_0 = M V the head's,   W_j = w_j 1 + h/M a P_j,   w+ = w + h/M b.P,   p+ = p + h lambda b.(W_{j+1} - 2 W_j +
//   W_{j-1})
//
// A dashpot D on the last site adds h D/M a^ P_N to its row. Source: hairer2006, section II.2.
#include "model/line.hpp"
#include "model/line_update.hpp"

namespace bathline {

void Line::set_up_stages(const CollocationScheme& scheme, double h) {
  stages_ = scheme;
  h_ = h;
  const int s = scheme.stages();
  const Eigen::MatrixXd coupling = h * h * constants_.stiffness / constants_.mass * scheme.a_hat * scheme.a;
  const double springs = constants_.far_end == FarEnd::fixed ? 2.0 : 1.0;
  const StageMatrix matrix{coupling, Eigen::MatrixXd::Identity(s, s) + springs * coupling +
                                         h * constants_.dashpot / constants_.mass * scheme.a_hat};
  stage_solver_ = make_stage_solver(matrix, layout_, communicator_, axes_);
  stage_momenta_.clear();
}

StageResponse Line::eliminate_stages(std::span<const double> head) {
  exchange_next_neighbours();
  const int s = stages_.stages();
  if (stage_momenta_.empty()) {
    stage_momenta_.assign(static_cast<std::size_t>(axes_), std::vector<double>(static_cast<std::size_t>(count_ * s)));
    stage_fields_.clear();
    for (std::vector<double>& field : stage_momenta_) stage_fields_.push_back(field.data());
  }
  const Eigen::VectorXd reach = h_ * constants_.stiffness * stages_.a_hat.rowwise().sum();
  for (int axis = 0; axis < axes_; ++axis) {
    const double* w = own(w_[axis]);
    const double* p = own(p_[axis]);
    double* stage = stage_momenta_[axis].data();
    if (at_head()) head_[axis] = head[axis];
    for (std::int64_t j = 0; j < count_; ++j) {
      const double left = j == 0 && at_head() ? head_[axis] : w[j - 1];
      const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : w[j];
      const double right = j + 1 == count_ && at_far_end_ ? behind : w[j + 1];
      const double difference = (right - w[j]) - (w[j] - left);
      for (int i = 0; i < s; ++i) stage[j * s + i] = std::fma(reach[i], difference, p[j]);
    }
  }
  const StageRelation relation = stage_solver_->eliminate(stage_fields_);
  const Eigen::MatrixXd push = constants_.stiffness * h_ * stages_.a;
  StageResponse response;
  response.damping = push * (Eigen::MatrixXd::Identity(s, s) - relation.slope);
  if (!at_head()) return response;
  response.constant = push / constants_.mass * relation.constant;
  for (int axis = 0; axis < axes_; ++axis) {
    response.constant.col(axis).array() += constants_.stiffness * (own(w_[axis])[0] - head_[axis]);
  }
  return response;
}

void Line::complete_stages(const Eigen::MatrixXd& head_velocities) {
  stage_solver_->substitute(stage_fields_, constants_.mass * head_velocities);
  const int s = stages_.stages();
  const Eigen::VectorXd weights = stages_.b, means = stages_.a.transpose() * stages_.b;
  const double drift = h_ / constants_.mass;
  // The mean of the stage displacements with weights b is what the end momenta need of the neighbours.
  for (int axis = 0; axis < axes_; ++axis) {
    double* w = own(w_[axis]);
    double* stage = stage_momenta_[axis].data();
    for (std::int64_t j = 0; j < count_; ++j) {
      const Eigen::Map<const Eigen::VectorXd> momenta(stage + j * s, s);
      const double to_mean = means.dot(momenta), to_end = weights.dot(momenta);
      if (j + 1 == count_ && at_far_end_ && is_open_ended()) {
        const double loss = h_ * constants_.dashpot / constants_.mass;
        own(p_[axis])[j] -= loss * to_end;
        dissipated_[axis] += loss / constants_.mass * weights.dot(momenta.cwiseAbs2());
      }
      w[j] = drifted(w[j], drift, to_mean);
      stage[j * s] = drift * (to_end - to_mean);
    }
  }
  exchange_next_neighbours();
  const double strength = h_ * constants_.stiffness;
  for (int axis = 0; axis < axes_ && count_ > 0; ++axis) {
    double* w = own(w_[axis]);
    double* p = own(p_[axis]);
    double left = w[-1];
    if (at_head()) left = head_[axis] + h_ * means.dot(head_velocities.col(axis));
    for (std::int64_t j = 0; j < count_; ++j) {
      const double here = w[j];
      const double behind = constants_.far_end == FarEnd::fixed ? 0.0 : here;
      const double right = j + 1 == count_ && at_far_end_ ? behind : w[j + 1];
      p[j] = kicked(p[j], strength, left, here, right);
      w[j] = here + stage_momenta_[axis][static_cast<std::size_t>(j * s)];
      left = here;
    }
  }
}

}  // namespace bathline
