// The catalogue of studies.
#pragma once

#include <string>
#include <vector>

#include "driver/study.hpp"

namespace bathline {

StudyKind trajectory_kind();
StudyKind convergence_kind();
StudyKind reduction_kind();
StudyKind wave_kind();
StudyKind lyapunov_kind();
StudyKind commutativity_kind();
StudyKind duplication_kind();
StudyKind substitution_kind();
StudyKind contact_form_kind();
StudyKind energy_kind();
StudyKind memory_kind();
StudyKind ensemble_kind();

/// All studies, in the order of `bathline list`.
const std::vector<StudyKind>& study_kinds();
const StudyKind* find_study(const std::string& name);

}  // namespace bathline
