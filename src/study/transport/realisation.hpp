// One realisation of a study of transport.
#pragma once

#include <memory>
#include <vector>

#include "driver/serialise_state.hpp"
#include "study/theory/multiple_tau.hpp"
#include "study/theory/power_spectrum.hpp"
#include "study/transport/chains.hpp"

namespace bathline {

/// A problem that is advanced by blocks of steps. It exists on the ranks of its team.
class TransportRealisation {
 public:
  /// In its start. @note Collective over the team.
  TransportRealisation(const Experiment& experiment, const Case& this_case, std::uint32_t number,
                       const Communicator& team, std::span<const Chain> chains);
  TransportRealisation(const TransportRealisation&) = delete;
  TransportRealisation& operator=(const TransportRealisation&) = delete;

  /// Advances by `observations` times `every` steps and appends the means of the block to `row`, on rank 0 of the team.
  /// @note Collective over the team.
  std::optional<Failure> advance(std::int64_t observations, std::int64_t every, std::vector<double>& row);
  /// The state between two blocks. Every rank of `world` calls it for every realisation, with one of its own where this
  /// one is not, which is not changed then. @note Collective over `world`.
  void serialise(Archive archive, std::int64_t step, bool is_own, const Communicator& world) {
    serialise_state(std::move(archive), step, problem_, *stepper_, world, is_own);
  }

 private:
  void observe();
  /// Heat that each environment has absorbed. @note Collective over the team.
  std::vector<double> absorbed();

  struct Observed {
    std::unique_ptr<HeatObserver> heat;
    // Of rings, on rank 0:
    MultipleTau current;
    std::vector<PowerSpectrum> spectra;  // by wave
  };

  const Case& case_;
  std::span<const Chain> chains_;
  Problem problem_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<Observed> observed_;  // by chain
  Eigen::VectorXd velocity_, forces_;
};

/// Whether steps begin and end with half a kick: then half a kick after a whole step momenta have the temperature of
/// the bath.
bool begins_and_ends_with_half_kicks(const Scheme& scheme);

}  // namespace bathline
