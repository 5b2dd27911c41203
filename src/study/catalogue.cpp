// The catalogue of studies.
#include "study/catalogue.hpp"

namespace bathline {

const Catalogue<StudyKind>& studies() {
  static const Catalogue<StudyKind> all = {
      trajectory_kind(),      convergence_kind(),   reduction_kind(),         wave_kind(),
      energy_transfer_kind(), commutativity_kind(), doubled_variables_kind(), substituting_system_kind(),
      contact_form_kind(),    energy_kind(),        memory_kernel_kind(),     ensemble_kind(),
      covariance_kind(),      fit_kind(),           transport_kind()};
  return all;
}

}  // namespace bathline
