// The studies that run costates backwards.
#pragma once

#include "driver/study.hpp"

namespace bathline {

StudyKind gradient_kind();
StudyKind optimal_control_kind();

}  // namespace bathline
