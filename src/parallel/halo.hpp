// Ghost sites: copies of the neighbours' sites at both ends of a rank's piece.
#pragma once

#include <memory>
#include <span>

#include "parallel/communicator.hpp"
#include "parallel/layout.hpp"

namespace bathline {

/// Exchanges `depth` sites on either side, from as many neighbouring ranks as hold them.
/// A local array holds left() copied sites, then the rank's own, then right() copied sites.
class Halo {
 public:
  /// `fields` is the number of arrays exchanged together. @note Collective.
  Halo(const Layout& layout, const Communicator& communicator, int depth, int fields);
  ~Halo();
  Halo(Halo&&) noexcept;

  int left() const { return left_; }
  int right() const { return right_; }
  /// Fills the copies in every array of `arrays` (as many as `fields`). Allocates nothing. @note Collective.
  void exchange(std::span<double* const> arrays);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
  int left_ = 0;
  int right_ = 0;
};

}  // namespace bathline
