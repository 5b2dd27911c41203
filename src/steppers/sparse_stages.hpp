// Stages of many particles of which each interacts with few others, in time and memory proportional to their number.
#pragma once

#include "steppers/particle_stages.hpp"

namespace bathline {

/// Whether the problem has such stages: chains and similar systems without environments, typed forces or a Lagrangian
/// of another form.
bool has_sparse_stages(const Problem& problem);

/// As make_particle_stages. `problem` must outlive it.
std::unique_ptr<ParticleStages> make_sparse_stages(const PartitionedRungeKutta& scheme, Problem& problem, double h);

}  // namespace bathline
