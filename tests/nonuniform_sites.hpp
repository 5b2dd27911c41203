// Lines whose sites differ, for tests, and the reference of their implicit steps: one dense system, without
// elimination.
#pragma once

#include <Eigen/LU>
#include <cmath>
#include <functional>

#include "model/line/line.hpp"
#include "one_stage.hpp"
#include "site_table.hpp"

namespace bathline {

/// Masses from 0.4 to 2.2 and springs from 0.5 to 3.7 without any order.
inline LineSite nonuniform_site(std::int64_t index) {
  const auto j = static_cast<double>(index);
  return {1.3 + 0.9 * std::sin(1.7 * j + 0.4), 2.1 + 1.6 * std::cos(2.9 * j)};
}

/// One axis of a line: M w'' = -K w - C w' + k_1 x e_1.
struct DenseLine {
  DenseLine(const std::function<LineSite(std::int64_t)>& site, FarEnd far_end, int sites)
      : mass(sites), stiffness(Eigen::MatrixXd::Zero(sites, sites)), first_spring(site(0).stiffness) {
    const LineSite last = site(sites - 1);
    for (int j = 0; j < sites; ++j) {
      mass[j] = site(j).mass;
      const double k = site(j).stiffness;
      stiffness(j, j) += k;
      if (j == 0) continue;
      stiffness(j - 1, j - 1) += k;
      stiffness(j, j - 1) = stiffness(j - 1, j) = -k;
    }
    if (far_end == FarEnd::fixed) stiffness(sites - 1, sites - 1) += last.stiffness;
    if (far_end == FarEnd::matched) dashpot = std::sqrt(last.stiffness * last.mass);
  }

  Eigen::VectorXd mass;
  Eigen::MatrixXd stiffness;
  double first_spring;
  double dashpot = 0.0;
};

/// A one-stage step with the head at `head`, its stage velocity `velocity`.
struct DenseLineStep {
  DenseLineStep(const DenseLine& line, const OneStage& s, double h, const Eigen::VectorXd& start_w,
                const Eigen::VectorXd& start_p, double head, double velocity) {
    const Eigen::Index n = start_w.size(), last = n - 1;
    Eigen::MatrixXd damping = Eigen::MatrixXd::Zero(n, n);
    damping(last, last) = line.dashpot;
    // P = p + a h (-K Q + k_1 X e_1 - C P/M),  Q = w + b h P/M.
    const double stage_head = head + s.b * h * velocity;
    const Eigen::VectorXd drive = line.first_spring * stage_head * Eigen::VectorXd::Unit(n, 0);
    const Eigen::MatrixXd inverse_mass = line.mass.cwiseInverse().asDiagonal();
    const Eigen::MatrixXd matrix =
        Eigen::MatrixXd::Identity(n, n) + s.a * h * (s.b * h * line.stiffness + damping) * inverse_mass;
    const Eigen::VectorXd stage_p = matrix.partialPivLu().solve(start_p + s.a * h * (drive - line.stiffness * start_w));
    const Eigen::VectorXd stage_v = inverse_mass * stage_p, stage_w = start_w + s.b * h * stage_v;
    p = stage_p + s.a_end * h * (drive - line.stiffness * stage_w - damping * stage_v);
    w = stage_w + s.b_end * h * stage_v;
    force = line.first_spring * (stage_w[0] - stage_head);
    work = h * line.dashpot * stage_v[last] * stage_v[last];
  }

  Eigen::VectorXd w, p;  // at the end
  double force;          // on the head, at the stage
  double work;           // of the dashpot
};

}  // namespace bathline
