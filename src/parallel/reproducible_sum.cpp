// Sums over fixed leaves: one gather, then the leaves in order.
#include "parallel/reproducible_sum.hpp"

#include <cmath>

#include "parallel/mpi_handle.hpp"

namespace bathline {

std::int64_t ReproducibleSum::leaf_size(std::int64_t total, std::int64_t min, std::int64_t max) {
  constexpr std::int64_t leaves = 1024, multiple = 64;
  return std::clamp((total + leaves * multiple - 1) / (leaves * multiple) * multiple, min, max);
}

ReproducibleSum::ReproducibleSum(const Layout& layout, const Communicator& communicator)
    : communicator_(communicator),
      layout_(layout),
      first_(layout.first(communicator.rank())),
      count_(layout.count(communicator.rank())) {}

std::span<double> ReproducibleSum::allocate(int width) {
  width_ = static_cast<std::size_t>(width);
  local_.assign(static_cast<std::size_t>(leaves()) * width_, 0.0);
  return local_;
}

void ReproducibleSum::reduce(std::span<double> totals) {
  const std::vector<double>* all = &local_;
  if (communicator_.size() > 1) {
    if (communicator_.is_root()) {
      counts_.clear();
      begins_.clear();
      int begin = 0;
      for (int rank = 0; rank < communicator_.size(); ++rank) {
        begins_.push_back(begin);
        counts_.push_back(static_cast<int>(leaves_of(rank)) * static_cast<int>(width_));
        begin += counts_.back();
      }
      all_.resize(static_cast<std::size_t>(begin));
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

void ReproducibleSum::begin() {
  allocate(1);
  site_ = first_;
  partial_ = {};
}

void ReproducibleSum::finish_leaf() {
  const std::array<double, interleaved>& p = partial_;
  local_[static_cast<std::size_t>((site_ - 1 - first_) / leaf_size())] =
      ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
  partial_ = {};
}

}  // namespace bathline
