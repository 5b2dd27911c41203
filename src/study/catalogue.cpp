// The catalogue of studies.
#include "study/catalogue.hpp"

namespace bathline {

const std::vector<StudyKind>& study_kinds() {
  static const std::vector<StudyKind> all = {trajectory_kind(),  convergence_kind(),  reduction_kind(),
                                             wave_kind(),        lyapunov_kind(),     commutativity_kind(),
                                             duplication_kind(), substitution_kind(), contact_form_kind(),
                                             energy_kind(),      memory_kind(),       ensemble_kind()};
  return all;
}

const StudyKind* find_study(const std::string& name) {
  for (const StudyKind& kind : study_kinds()) {
    if (kind.entry.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace bathline
