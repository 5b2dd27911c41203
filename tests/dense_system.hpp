// A small scene as dense matrices, u'' = M^-1 (-K u - grad V - C u'), assembled from single springs: the
// independent description that fast code is compared with.
#pragma once

#include "scene.hpp"

namespace bathline {

class DenseSystem {
 public:
  explicit DenseSystem(const Scene& scene) : scene_(scene), particles_(scene.system.size()) {
    const int size = scene.size();
    const int axes = scene.system.axes;
    mass = Eigen::VectorXd::Zero(size);
    springs = Eigen::MatrixXd::Zero(size, size);
    damping = Eigen::MatrixXd::Zero(size, size);
    mass.head(particles_) = scene.system.mass;
    if (scene.damping.size() > 0) damping.topLeftCorner(particles_, particles_) = scene.damping;
    int begin = particles_;
    for (const SceneLine& line : scene.lines) {
      const int sites = static_cast<int>(line.sites);
      for (int axis = 0; axis < axes; ++axis) {
        // Positions along the line: the head, the sites, and the far end.
        std::vector<Eigen::VectorXd> position(static_cast<std::size_t>(sites + 1), Eigen::VectorXd::Zero(size));
        for (const Attachment::Weight& w : line.weights) position[0][w.particle * axes + axis] += w.weight;
        for (int j = 0; j < sites; ++j) {
          position[static_cast<std::size_t>(j + 1)][begin + j * axes + axis] = 1.0;
          mass[begin + j * axes + axis] = line.constants.mass;
        }
        if (line.constants.far_end == FarEnd::fixed) position.push_back(Eigen::VectorXd::Zero(size));
        for (std::size_t j = 0; j + 1 < position.size(); ++j) {
          const Eigen::VectorXd strain = position[j + 1] - position[j];
          springs += line.constants.stiffness * strain * strain.transpose();
        }
        const int last = begin + (sites - 1) * axes + axis;
        damping(last, last) += line.dashpot();
      }
      begin += sites * axes;
    }
  }

  Eigen::VectorXd mass;     ///< of every coordinate
  Eigen::MatrixXd springs;  ///< of the lines, the potential of the particles not included
  Eigen::MatrixXd damping;

  int size() const { return static_cast<int>(mass.size()); }

  Eigen::VectorXd force(const Eigen::VectorXd& u) const {
    Eigen::VectorXd gradient(particles_);
    scene_.system.potential->gradient(scene_.system.q0 + u.head(particles_), gradient);
    Eigen::VectorXd force = -(springs * u);
    force.head(particles_) -= gradient;
    return force;
  }
  /// Second derivative of all potential energy.
  Eigen::MatrixXd stiffness(const Eigen::VectorXd& u) const {
    Eigen::MatrixXd hessian(particles_, particles_);
    scene_.system.potential->hessian(scene_.system.q0 + u.head(particles_), hessian);
    Eigen::MatrixXd matrix = springs;
    matrix.topLeftCorner(particles_, particles_) += hessian;
    return matrix;
  }
  double energy(const PhasePoint& point) const {
    return 0.5 * point.p.dot(point.p.cwiseQuotient(mass)) + 0.5 * point.u.dot(springs * point.u) +
           scene_.system.potential->value(scene_.system.q0 + point.u.head(particles_));
  }

 private:
  const Scene& scene_;
  int particles_;
};

}  // namespace bathline
