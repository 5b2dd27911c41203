// What a recipe asks of its runs: a study.
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
  std::string label;
  Failure failure;
};

/// A study at work; everything it measures goes to the result file.
class Study {
 public:
  virtual ~Study() = default;
  /// Returns what went wrong numerically, after writing what was computed until then. Throws Stopped, on every rank,
  /// where `checkpoints` wants it to. @note Collective.
  virtual std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) = 0;
};

/// One line of the catalogue of studies.
struct StudyKind {
  CatalogueEntry entry;
  /// Reads the study's own keys and adds to the mistakes what the experiment, which is made of the recipe, lacks for
  /// it; what is returned is of use where there are no mistakes. `experiment` must outlive it. @note Collective.
  std::unique_ptr<Study> (*make)(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes);
  /// Whether runs may end at times of their own: it compares none with another.
  bool allows_own_ends = false;
  /// Whether it can do without what the environments do: it looks at nothing but the particles.
  bool looks_at_particles = false;
  /// Whether it needs no constant masses, so that Lagrangians of any form will do.
  bool takes_any_lagrangian = false;
  /// Whether its open runs may have noise: it compares none with a motion of its own.
  bool takes_noise = false;
};

}  // namespace bathline
