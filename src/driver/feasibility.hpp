// Whether the cases of an experiment can run, and what a user should know of before they do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/experiment.hpp"

namespace bathline {

/// The judgement of every case that could be read, on its problem, which is built once.
class Feasibility {
 public:
  /// Adds to the mistakes what keeps a case from running: damping that nothing states, a start that is no number, a
  /// method that is not for the system or the environments, too little memory, a step beyond the limit of stability.
  /// `recipe`, which the experiment is of, and `experiment` must outlive this. @note Collective.
  Feasibility(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);

  /// An echo before the end, an environment too slow to damp, a growing method, a grid of another one, a last step cut
  /// off.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// The problem of a case by its number, not prepared; only where there was no mistake.
  const Problem& problem(std::size_t index) const { return problems_.at(index).value(); }
  /// Sets up the solvers of all cases, so that PETSc sees its options. Throws SolverError. @note Collective.
  void set_up_solvers();

 private:
  /// Whether it can have environments, and forces and their slopes are numbers at the start.
  void check_system(Mistakes& mistakes) const;
  /// Whether the system has a z, or can be given one, if and only if the method advances one, and whether the method
  /// can do its steps.
  void check_contact(std::size_t index, Mistakes& mistakes);
  /// Whether the noise of an open system has no temperature, or the method takes none.
  bool is_noise_unsupported(const Case& one, Mistakes& mistakes) const;
  /// Whether an environment cannot be advanced by the method, or implies no damping for an open system.
  bool is_unsupported(std::size_t index, Mistakes& mistakes);
  void check_memory(Mistakes& mistakes);
  /// The key that an environment's memory grows with; `kind` where there is none.
  std::string size_key(const Section& environment) const;
  void check_stability(std::size_t index, Mistakes& mistakes);
  void warn_of_limits(std::size_t index);
  /// Where a motion of particles and environments together is out of reach of the noise of a closed run.
  void warn_of_bound_motions(std::size_t index);
  /// A temperature that no run feels.
  void warn_of_idle_temperature();
  /// Where an environment that follows the step is made for another gamma than the closed integrator's.
  void warn_of_other_matches(std::size_t index);
  /// Whether a warm environment stands on the limit of stability, where its energy has no bound; then nothing can be
  /// claimed of it.
  void check_energies(std::size_t index, Mistakes& mistakes);
  /// The problem of a case; throws UnreadableValue where it cannot be built.
  const Problem& built(std::size_t index);
  /// The steps that a case runs with, and where the recipe states them: the study's list where it has one.
  std::pair<std::vector<double>, Location> steps_of(const Case& one) const;

  const Recipe& recipe_;
  const Experiment& experiment_;
  std::vector<std::optional<Problem>> problems_;
  std::optional<double> particle_frequency_;
  std::vector<std::string> warnings_;
};

}  // namespace bathline
