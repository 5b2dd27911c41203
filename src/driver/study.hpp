// Studies: what a recipe measures with its runs.
#pragma once  // Public: programs of others may include this header.

#include <memory>
#include <optional>
#include <string>

#include "steppers/stepper.hpp"
#include "driver/checkpoints.hpp"
#include "driver/progress.hpp"
#include "recipe/mistakes.hpp"
#include "recipe/recipe.hpp"
#include "recipe/catalogue_schema.hpp"
#include "record/result_file.hpp"

namespace bathline {

class Experiment;

/// A numerical failure with the case it happened in.
struct CaseFailure {
  std::string name;
  Failure failure;
};

/// A study of one recipe; its measurements go to the result file.
class Study {
 public:
  virtual ~Study() = default;
  /// Returns the numerical failure, if any, after writing the data up to it. Throws Stopped, on every rank, if
  /// `checkpoints` decides so. @note Collective.
  virtual std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) = 0;
};

/// One entry of the catalogue of studies.
struct StudyKind {
  CatalogueEntry entry;
  /// Makes the study from its keys in the recipe; adds mistakes if the experiment, made from the same recipe, does not
  /// support it. The returned study is valid only without mistakes. `experiment` must outlive it. @note Collective.
  std::unique_ptr<Study> (*make)(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);
  /// Whether runs may have different ends, as the study does not compare them.
  bool allows_own_ends = false;
  /// Whether the study evaluates only the particles, so that `particles_only` is allowed.
  bool looks_at_particles = false;
  /// Whether the study supports general Lagrangians, without constant masses.
  bool takes_any_lagrangian = false;
  /// Whether the study supports systems of the kind `contact`, whose damping is no matrix, without any Lagrangian.
  bool takes_contact = false;
  /// Whether the study supports runs with noise.
  bool takes_noise = false;
};

}  // namespace bathline
