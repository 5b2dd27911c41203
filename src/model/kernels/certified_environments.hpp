// Baths in the place of a kernel, as environments that know how good they are.
#pragma once

#include <memory>
#include <string>

#include "model/memory/coloured_noise_memory.hpp"
#include "model/kernels/gauss_rule_bath.hpp"
#include "model/kernels/exponential_fit.hpp"

namespace bathline {

struct BathOptions {
  double horizon = 0.0;                               ///< s
  double temperature = 0.0;                           ///< kT, J
  std::string choice = {};                            ///< why this one, for the log; empty where it was asked for
  std::shared_ptr<const MemoryBath> noise = nullptr;  ///< of exponentials that have it together alone
};

/// A star, which starts warm as any other, and so does the chain. @note Collective.
std::unique_ptr<Environment> make_star(std::string name, Attachment attachment,
                                       std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                       const Communicator& communicator);
/// A line of unequal sites whose far end is free. @note Collective.
std::unique_ptr<Environment> make_chain(std::string name, Attachment attachment,
                                        std::shared_ptr<const GaussRuleBath> bath, const BathOptions& options,
                                        const Communicator& communicator);

/// A memory of modes: where there is a temperature, with the noise of each, or of all together. @note Collective.
std::unique_ptr<Environment> make_exponential_memory(std::string name, Attachment attachment,
                                                     const std::shared_ptr<const ExponentialSum>& sum,
                                                     const BathOptions& options, const Communicator& communicator);

}  // namespace bathline
