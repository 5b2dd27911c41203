// The oscillators of a bath on one rank: the state that all its steppers share.
// Tested by tests/model/oscillator_bath/oscillator_bath_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/environment.hpp"
#include "model/discrete_spectrum.hpp"
#include "model/oscillator_bath/chunk_stepper.hpp"
#include "parallel/communicator.hpp"
#include "parallel/reproducible_sum.hpp"

namespace bathline {

struct OscillatorBathState {
  OscillatorBathState(DiscreteSpectrum spectrum, int axes, const Communicator& communicator);

  /// Calls work(leaf, begin, count) for every chunk of this rank's oscillators, leaf by leaf.
  template <class Work>
  void for_each_chunk(Work&& work) const;
  /// Recomputes the pull after w has been changed by something other than a stepper. @note Collective.
  void refresh_pull();

  DiscreteSpectrum spectrum;
  Communicator communicator;
  std::size_t axes;
  mutable ReproducibleSum sum;
  std::vector<double> stiffness, inverse_mass;  ///< per oscillator of this rank
  std::vector<std::vector<double>> w, p;        ///< one array per axis
  double total_stiffness = 0.0;                 ///< on rank 0
  std::vector<double> pull;                     ///< sum of k w, one per axis; on rank 0
  std::int64_t changes = 0;  ///< number of changes of w and p; what was computed ahead is valid for one of them only
};

template <class Work>
void OscillatorBathState::for_each_chunk(Work&& work) const {
  for (std::int64_t leaf = 0; leaf < sum.leaves(); ++leaf) {
    const std::int64_t end = std::min(sum.count(), (leaf + 1) * sum.leaf_size());
    for (std::int64_t begin = leaf * sum.leaf_size(); begin < end; begin += OscillatorChunkStepper::chunk) {
      work(leaf, begin, static_cast<int>(std::min<std::int64_t>(OscillatorChunkStepper::chunk, end - begin)));
    }
  }
}

// Steppers; the state must outlive them.
std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(OscillatorBathState& bath,
                                                                              const ExplicitScheme& scheme, double h,
                                                                              int steps_per_pass);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(OscillatorBathState& bath,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
