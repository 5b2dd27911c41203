// The experiment that a recipe describes: the particles and a case for every integrator.
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

/// One integrator of a recipe applied to the closed or the open system.
struct Case {
  std::string name;
  const Method* method = nullptr;
  Section options;
  Scheme scheme;
  bool closed = false;
  bool noise = false;  ///< Langevin noise, with `scheme` the one for that, or, closed, noise of an environment
  std::shared_ptr<const ThermalStart> start = nullptr;  ///< of the particles, if it is drawn at random
  double step = 0.0;
  double end = 0.0;  ///< requested end time, s
  std::int64_t steps = 0;
  std::vector<std::size_t> environments;  ///< indices of those that close the system or imply its damping
};

/// All input of a study; no problem is allocated yet.
class Experiment {
 public:
  /// Adds the mistakes that are found to `mistakes`, which is empty before; after one the experiment is incomplete.
  /// `program` must outlive it. @note Collective.
  Experiment(const Recipe& recipe, const Program& program, Mistakes& mistakes);

  const Program& program() const { return program_; }
  const Catalogues& catalogues() const { return program_.catalogues(); }
  const ParticleSystem& system() const { return system_; }
  const std::vector<Case>& cases() const { return cases_; }
  /// nullptr if there is none.
  const Case* find_case(const std::string& name) const;
  double end_time() const { return end_; }
  /// The step of [time], which a case can override.
  double common_step() const { return recipe_.time.number("step"); }
  const OutputPlan& output() const { return output_; }
  /// Of all random numbers.
  std::uint64_t seed() const { return static_cast<std::uint64_t>(recipe_.top.integer("seed")); }
  /// Names, as in the recipe, and contents of the files that environments were read from.
  std::vector<std::pair<std::string, std::string>> input_files() const;
  const Communicator& communicator() const { return program_.communicator(); }

  /// The momentum diffusion matrix kT C of the open problem of a case with noise, or why it does not exist.
  struct Diffusion {
    Eigen::MatrixXd matrix;
    std::string unsupported_reason = {};
    TemperaturesInTime in_time = {};
  };
  /// @note Collective.
  Diffusion diffusion(const Case& this_case) const {
    const auto environments = build_environments(this_case, this_case.step, communicator());
    return diffusion(this_case, environments, open_damping(environments));
  }

  /// The closed or open problem of a case, before `Problem::prepare`; environments on the characteristic grid depend on
  /// `step`. With a method for contact systems, an open system becomes one if C = -gamma M. @note Collective.
  Problem make_problem(const Case& this_case, double step, bool closed) const {
    return make_problem(this_case, step, closed, communicator());
  }
  Problem make_problem(const Case& this_case) const {
    return make_problem(this_case, this_case.step, this_case.closed);
  }
  /// The same, closed or open independently of the case.
  Problem make_closed_problem(const Case& this_case, double step) const {
    constexpr bool closed = true;
    return make_problem(this_case, step, closed);
  }
  Problem make_open_problem(const Case& this_case) const {
    constexpr bool closed = false;
    return make_problem(this_case, this_case.step, closed);
  }
  /// Whether an environment of the recipe is white (EnvironmentProperties).
  bool is_white(std::size_t environment) const;
  /// kT in J of every degree of freedom, for a thermal start of the particles of a case; nothing if it is undefined.
  std::optional<Eigen::VectorXd> start_temperature(const Case& this_case) const;
  /// Whether the noise of a case contains white noise of the particles.
  bool has_white_noise(const Case& this_case) const;
  /// The name of the first environment of a closed case that is a memory kernel without sites; empty if there is none.
  /// @note Collective.
  std::string environment_without_sites() const;
  /// The closed problem of a case with clamped particles (very large masses) and no potential. @note Collective.
  Problem make_clamped_problem(const Case& this_case) const;
  /// A problem as above on the ranks of `communicator`.
  Problem make_problem(const Case& this_case, double step, bool closed, const Communicator& communicator) const {
    return make_problem(this_case, step, closed, communicator, system());
  }
  /// A problem as above with the initial values of `start`, which equals the system except for q0 and v0.
  /// @note Collective.
  Problem make_problem(const Case& this_case, double step, bool closed, const ParticleSystem& start) const {
    return make_problem(this_case, step, closed, communicator(), start);
  }

 private:
  std::unique_ptr<Environment> build_environment(const Section& section, double step, const Communicator& communicator,
                                                 Mistakes& mistakes) const;
  std::vector<std::unique_ptr<Environment>> build_environments(const Case& this_case, double step,
                                                               const Communicator& communicator) const;
  Problem make_problem(const Case& this_case, double step, bool closed, const Communicator& communicator,
                       const ParticleSystem& start) const;
  /// The same without a thermal start.
  Problem make_cold_problem(const Case& this_case, double step, bool closed, const Communicator& communicator,
                            const ParticleSystem& start) const;
  Diffusion diffusion(const Case& this_case, const std::vector<std::unique_ptr<Environment>>& environments,
                      const Eigen::MatrixXd& damping) const;
  void read_system(Mistakes& mistakes);
  /// Its own mistakes, which do not depend on the step.
  void check_environment(const Section& section, Mistakes& mistakes) const;
  Case read_case(const Section& section, Mistakes& mistakes);
  /// C of the open problem of a case.
  Eigen::MatrixXd open_damping(const std::vector<std::unique_ptr<Environment>>& environments) const;
  std::shared_ptr<const ThermalStart> thermal_start(const Case& this_case, Mistakes& mistakes) const;
  /// Whether noise is requested in a section of [[integrators]] and a temperature is given for that run.
  bool has_noise(const Section& section, const Case& this_case) const;
  /// Whether an environment has its own noise in closed runs.
  bool is_noisy(const Section& environment) const;

  Recipe recipe_;
  const Program& program_;
  ParticleSystem system_;
  double end_ = 0.0;
  OutputPlan output_;
  std::vector<Case> cases_;
};

}  // namespace bathline
