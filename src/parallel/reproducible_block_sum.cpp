// Sums over fixed leaves: one gather, then the leaves in order.
#include "parallel/reproducible_block_sum.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

// Enough leaves for as many ranks, few enough for one message to rank 0.
constexpr std::int64_t max_leaves = 1024;
constexpr std::int64_t smallest_leaf = 256;

std::int64_t leaf_size_of(std::int64_t total) { return std::max(smallest_leaf, (total + max_leaves - 1) / max_leaves); }

std::int64_t leaves_of(std::int64_t total) { return (total + leaf_size_of(total) - 1) / leaf_size_of(total); }

}  // namespace

ReproducibleBlockSum::ReproducibleBlockSum(std::int64_t total, const Communicator& communicator)
    : communicator_(communicator),
      layout_(leaves_of(total), communicator.size(), 1),
      leaf_size_(leaf_size_of(total)),
      first_(std::min(total, layout_.first(communicator.rank()) * leaf_size_)),
      count_(std::min(total, layout_.first(communicator.rank() + 1) * leaf_size_) - first_),
      leaves_(layout_.count(communicator.rank())) {}

std::span<double> ReproducibleBlockSum::allocate(int width) {
  width_ = static_cast<std::size_t>(width);
  local_.assign(static_cast<std::size_t>(leaves_) * width_, 0.0);
  return local_;
}

void ReproducibleBlockSum::reduce(std::span<double> totals) {
  const std::vector<double>* all = &local_;
  if (communicator_.size() > 1) {
    if (communicator_.is_root()) {
      all_.resize(static_cast<std::size_t>(layout_.total()) * width_);
      counts_.clear();
      begins_.clear();
      for (int rank = 0; rank < communicator_.size(); ++rank) {
        counts_.push_back(static_cast<int>(layout_.count(rank) * static_cast<std::int64_t>(width_)));
        begins_.push_back(static_cast<int>(layout_.first(rank) * static_cast<std::int64_t>(width_)));
      }
    }
    MPI_Gatherv(local_.data(), static_cast<int>(local_.size()), MPI_DOUBLE, all_.data(), counts_.data(), begins_.data(),
                MPI_DOUBLE, 0, mpi_comm(communicator_));
    all = &all_;
  }
  if (!communicator_.is_root()) return;
  for (std::size_t i = 0; i < width_; ++i) {
    // Neumaier's compensated sum.
    double sum = 0.0, compensation = 0.0;
    for (std::size_t k = i; k < all->size(); k += width_) {
      const double value = (*all)[k], next = sum + value;
      compensation += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
      sum = next;
    }
    totals[i] = sum + compensation;
  }
}

}  // namespace bathline
