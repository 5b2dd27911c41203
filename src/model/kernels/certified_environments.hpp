// Representations of a kernel as environments with a certificate.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/memory/coloured_noise_memory.hpp"
#include "model/kernels/gauss_rule_bath.hpp"
#include "model/kernels/exponential_fit.hpp"

namespace bathline {

struct BathOptions {
  double horizon = 0.0;      ///< s
  double temperature = 0.0;  ///< kT, J
  std::string choice = {};   ///< why this representation was chosen, for the log; empty if it was requested
  std::shared_ptr<const MemoryBath> noise =
      nullptr;                          ///< joint noise of exponentials that do not have noise term by term
  bool is_passive_fit = false;          ///< whether exponentials are the nearest passive kernel
  std::function<bool()> has_star = {};  ///< for exponentials: whether a star would be possible
};

/// A star of oscillators. Noise of stars and chains is in their thermal start. @note Collective.
std::unique_ptr<Environment> make_star(std::string name, Attachment attachment,
                                       std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                       const Communicator& communicator);
/// A line of unequal sites with a free far end. @note Collective.
std::unique_ptr<Environment> make_chain(std::string name, Attachment attachment,
                                        std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                        const Communicator& communicator);

/// A memory of exponentials; at a temperature with the noise of each term, or the joint noise. @note Collective.
std::unique_ptr<Environment> make_exponential_memory(std::string name, Attachment attachment,
                                                     const std::shared_ptr<const ExponentialSum>& sum,
                                                     const BathOptions& options, const Communicator& communicator);

}  // namespace bathline
