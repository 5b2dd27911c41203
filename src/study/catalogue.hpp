// The catalogue of studies.
#pragma once

#include "driver/experiment.hpp"
#include "driver/study.hpp"
#include "recipe/catalogue.hpp"

namespace bathline {

StudyKind trajectory_kind();
StudyKind convergence_kind();
StudyKind reduction_kind();
StudyKind wave_kind();
StudyKind energy_transfer_kind();
StudyKind commutativity_kind();
StudyKind doubled_variables_kind();
StudyKind substituting_system_kind();
StudyKind contact_form_kind();
StudyKind energy_kind();
StudyKind memory_kernel_kind();
StudyKind ensemble_kind();
StudyKind covariance_kind();
StudyKind fit_kind();
StudyKind transport_kind();

/// The built-in studies.
const Catalogue<StudyKind>& studies();

}  // namespace bathline
