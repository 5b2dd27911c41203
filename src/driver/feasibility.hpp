// Checks before a run: whether the cases of an experiment can run, and warnings about those that can.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/experiment.hpp"
#include "driver/run_warnings.hpp"

namespace bathline {

/// Checks every case that could be read; the problem of each case is built once.
class Feasibility {
 public:
  /// Whether messages about methods name others that are supported.
  enum class Advice { none, of_methods };

  /// Adds to the mistakes what prevents a case from running: undefined damping, forces, or derivatives that a method
  /// needs, that are not finite at the start, a method that supports neither the system nor the environments, too
  /// little memory, too many points of a section, a step beyond the stability limit. `recipe`, from which `experiment`
  /// was made, and `experiment` must outlive this. @note Collective.
  Feasibility(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes,
              Advice advice = Advice::of_methods);

  /// Those of RunWarnings, and about unstable methods and thermal environments at the stability limit.
  const std::vector<std::string>& warnings() const { return messages_.warnings(); }
  /// The slowest decay of warm runs.
  const std::vector<std::string>& notes() const { return messages_.notes(); }
  /// The problem of case `index`, before `Problem::prepare`; requires that there were no mistakes.
  const Problem& problem(std::size_t index) const { return problems_.at(index).value(); }
  /// Sets up the solvers of all cases, so that PETSc reads its options. Throws SolverError. @note Collective.
  void set_up_solvers();

 private:
  /// The system supports its environments, and forces are finite at the start.
  void check_system(Mistakes& mistakes) const;
  /// Derivatives of the forces that the method needs are finite at the start.
  void check_derivatives(std::size_t index, Mistakes& mistakes) const;
  /// A contact method needs a system with an action z, given or implied by its damping, and a system with a z needs a
  /// method that advances it, with a step that the method supports.
  void check_contact(std::size_t index, Mistakes& mistakes);
  /// Whether a case needs noise that its method or its system does not support; adds the mistake.
  bool is_noise_unsupported(const Case& this_case, Mistakes& mistakes) const;
  /// Whether the method does not support the system or an environment, or an environment implies no damping for an open
  /// system; adds the mistakes.
  bool is_unsupported(std::size_t index, Mistakes& mistakes);
  /// White environments: no other damping takes their place in an open run, and in a closed one the heat of each is
  /// known.
  void check_white_environments(std::size_t index, Mistakes& mistakes);
  /// `replacement_methods` as the end of a message, where advice is wanted.
  std::string advice_for(const Case& this_case) const;
  void check_memory(Mistakes& mistakes);
  /// A stroboscopic section has a period for which its points can be stored.
  void check_section(Mistakes& mistakes) const;
  /// The key that determines the size of an environment; `kind` if there is none.
  std::string size_key(const Section& environment) const;
  void check_stability(std::size_t index, Mistakes& mistakes);
  /// A warm environment at the stability limit: its energy is unbounded, so that claims about it are mistakes.
  void check_energy_claims(std::size_t index, Mistakes& mistakes);
  /// The problem of case `index`; throws InvalidValue if it cannot be built.
  const Problem& build_problem(std::size_t index);
  /// The step sizes of a case and their location in the recipe: the study's list if it has one.
  std::pair<std::vector<double>, Location> steps_of(const Case& this_case) const;

  const Recipe& recipe_;
  const Experiment& experiment_;
  bool gives_advice_;
  std::vector<std::optional<Problem>> problems_;
  RunWarnings messages_;
};

}  // namespace bathline
