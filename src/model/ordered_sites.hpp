// The places of sites in the order in which results have them.
#pragma once

#include <cstdint>
#include <vector>

namespace bathline {

/// Implemented by environments whose fields "w" are not the displacements along one axis in the order of the sites.
class OrderedSites {
 public:
  virtual ~OrderedSites() = default;
  /// Number of axes along which a site moves, and of the sites.
  virtual int site_axes() const = 0;
  virtual std::int64_t ordered_sites() const = 0;
  /// The displacements of every `stride`-th site along an axis, on rank 0; empty elsewhere. @note Collective.
  virtual std::vector<double> displacements(int axis, std::int64_t stride) = 0;
};

}  // namespace bathline
