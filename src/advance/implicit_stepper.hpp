// What implicit schemes have in common: the environments are eliminated, Newton's method finds the particles' step, and
// the environments complete theirs.
//
// Where all environments allow it rank 0 goes through blocks of steps on its own, and no message is sent but between
// blocks; elsewhere every step needs all ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advance/stepper.hpp"
#include "solve/particle_newton.hpp"

namespace bathline {

class ImplicitStepper : public Stepper {
 public:
  std::optional<Failure> advance(std::int64_t steps) final;
  std::int64_t portion() const final;

 protected:
  ImplicitStepper(Problem& problem, double h);
  /// To be called once every environment is set up for the scheme: says how long blocks may be.
  void lay_blocks();

  /// Takes what the environments are to the particles in this step. Says why where a linear solver failed.
  /// @note Collective outside of blocks.
  virtual std::optional<std::string> eliminate_environments() = 0;
  /// The particles' step, on rank 0; leaves in `solution_` what the environments need to know of it.
  virtual ParticleNewton::Report advance_particles() = 0;
  /// Ends the environments' step with `solution_`, the same on every rank. @note Collective outside of blocks.
  virtual void complete_environments() = 0;

  Problem& problem_;
  double h_;
  Eigen::VectorXd solution_;  // stage velocities of the particles
  std::vector<double> head_;

 private:
  std::optional<Failure> step();
  std::optional<Failure> advance_block(int steps);

  std::int64_t done_ = 0;
  int block_ = 64;  // steps of a block, 0 where every step needs all ranks
  Eigen::VectorXd message_;
};

}  // namespace bathline
