// A recipe made sense of: the particles, and for every integrator what it runs on.
#pragma once  // Public: programs of others may include this header.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "steppers/stepper.hpp"
#include "driver/output_plan.hpp"
#include "driver/program.hpp"
#include "methods/method.hpp"
#include "model/particle_system.hpp"
#include "model/problem.hpp"
#include "model/thermal/thermal_start.hpp"
#include "recipe/recipe.hpp"

namespace bathline {

/// One integrator of a recipe on its closed or open system.
struct Case {
  std::string label;
  const Method* method = nullptr;
  Section options;
  Scheme scheme;
  bool closed = false;
  bool noise = false;  ///< open at a temperature, with `scheme` the one for that, or closed with noise of its own
  std::shared_ptr<const ThermalStart> start = nullptr;  ///< of the particles, where that is drawn
  double step = 0.0;
  double end = 0.0;  ///< that was asked for, s
  std::int64_t steps = 0;
  std::vector<std::size_t> environments;  ///< which of the recipe's close it, or imply its damping
};

/// Everything a study needs to know, with nothing allocated yet.
///
/// It is also made from a recipe with mistakes, to find more of them. What it could then not make sense of throws
/// `UnreadableValue` where it is asked for.
class Experiment {
 public:
  /// Adds to the mistakes what does not make sense in what could be read. `program` must outlive it. @note Collective.
  Experiment(const Recipe& recipe, const Program& program, Mistakes& mistakes);

  const Catalogues& catalogues() const { return program_.catalogues(); }
  const ParticleSystem& system() const;
  const std::vector<Case>& cases() const;
  /// As many of them as could be read.
  const std::vector<Case>& readable_cases() const { return cases_; }
  const Case* find_case(const std::string& label) const;
  double end_time() const;
  /// The step of [time], which cases can replace by their own.
  double common_step() const { return recipe_.time.number("step"); }
  const OutputPlan& output() const;
  /// Of all random numbers.
  std::uint64_t seed() const { return static_cast<std::uint64_t>(recipe_.top.integer("seed")); }
  /// The files that environments were read from, by their names in the recipe, and what was in them.
  std::vector<std::pair<std::string, std::string>> input_files() const;
  const Communicator& communicator() const { return program_.communicator(); }

  /// The momentum diffusion kT C of the open problem of a case with noise, or why there is none.
  struct Diffusion {
    Eigen::MatrixXd matrix;
    std::string unsupported_reason = {};
  };
  /// @note Collective.
  Diffusion diffusion(const Case& one) const {
    const auto environments = build_environments(one, one.step, communicator());
    return diffusion(one, environments, open_damping(one, environments));
  }

  /// The closed or open problem of a case, not prepared; `step` matters to environments on the characteristic grid.
  /// With a method for contact systems an open system that can be one is one. @note Collective.
  Problem make_problem(const Case& one, double step, bool closed) const {
    return make_problem(one, step, closed, communicator());
  }
  Problem make_problem(const Case& one) const { return make_problem(one, one.step, one.closed); }
  /// The same whatever the case asks for.
  Problem make_closed_problem(const Case& one, double step) const {
    constexpr bool closed = true;
    return make_problem(one, step, closed);
  }
  Problem make_open_problem(const Case& one) const {
    constexpr bool closed = false;
    return make_problem(one, one.step, closed);
  }
  /// The first environment of a closed case that keeps no sites; empty where all do. @note Collective.
  std::string environment_without_sites() const;
  /// The closed problem of a case with particles so heavy that nothing moves them, and no potential. @note Collective.
  Problem make_clamped_problem(const Case& one) const;
  /// A problem as above, over the ranks of `communicator` alone.
  Problem make_problem(const Case& one, double step, bool closed, const Communicator& communicator) const {
    return make_problem(one, step, closed, communicator, system());
  }
  /// A problem as above whose particles start where `start` has them: the system but for its q0 and v0. @note
  /// Collective.
  Problem make_problem(const Case& one, double step, bool closed, const ParticleSystem& start) const {
    return make_problem(one, step, closed, communicator(), start);
  }

 private:
  std::unique_ptr<Environment> build_environment(const Section& section, double step, const Communicator& communicator,
                                                 Mistakes& mistakes) const;
  std::vector<std::unique_ptr<Environment>> build_environments(const Case& one, double step,
                                                               const Communicator& communicator) const;
  Problem make_problem(const Case& one, double step, bool closed, const Communicator& communicator,
                       const ParticleSystem& start) const;
  /// The same without a thermal start.
  Problem make_cold_problem(const Case& one, double step, bool closed, const Communicator& communicator,
                            const ParticleSystem& start) const;
  Diffusion diffusion(const Case& one, const std::vector<std::unique_ptr<Environment>>& environments,
                      const Eigen::MatrixXd& damping) const;
  void read_end();
  void read_output_plan(Mistakes& mistakes);
  Case read_case(const Section& section, Mistakes& mistakes);
  /// C of the open problem of a case.
  Eigen::MatrixXd open_damping(const Case& one, const std::vector<std::unique_ptr<Environment>>& environments) const;
  /// kT in J of every degree of freedom, for a thermal start of the particles of a case; nothing where it is not known.
  std::optional<Eigen::VectorXd> temperature_of_start(const Case& one) const;
  std::shared_ptr<const ThermalStart> thermal_start(const Case& one, Mistakes& mistakes) const;
  /// Whether temperatures are stated for the run that a section of [[integrators]] asks for, and noise wanted.
  bool has_noise(const Section& section, const Case& one) const;
  /// Whether an environment has noise of its own in closed runs.
  bool is_noisy(const Section& environment) const;

  Recipe recipe_;
  const Program& program_;
  ParticleSystem system_;
  bool system_is_sound_ = false;
  std::optional<double> end_;
  std::optional<OutputPlan> output_;
  std::vector<Case> cases_;
  bool cases_are_complete_ = true;
};

}  // namespace bathline
