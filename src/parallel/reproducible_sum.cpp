// Sums that do not depend on the number of ranks: partial blocks are passed on, complete blocks are added up.
#include "parallel/reproducible_sum.hpp"

#include <cmath>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

/// Neumaier's compensated sum: the fixed order fixes the bits, the compensation keeps sums of 10^5 blocks accurate.
double compensated_sum(const std::vector<double>& values) {
  double sum = 0.0;
  double compensation = 0.0;
  for (double value : values) {
    const double next = sum + value;
    compensation += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return sum + compensation;
}

}  // namespace

ReproducibleSum::ReproducibleSum(const Layout& layout, const Communicator& communicator)
    : communicator_(communicator),
      total_sites_(layout.total()),
      first_(layout.first(communicator.rank())),
      end_(layout.first(communicator.rank() + 1)),
      own_begin_(std::min(end_, (first_ + block - 1) / block * block)),
      has_foreign_block_(end_ > first_ && first_ % block != 0) {}

void ReproducibleSum::begin() {
  site_ = own_begin_;
  partial_ = {};
  blocks_.clear();
  // Not in the constructor: a line may be described that does not fit into memory.
  blocks_.reserve(static_cast<std::size_t>((end_ - first_) / block + 2));
}

ReproducibleSum::Partial ReproducibleSum::receive() {
  Partial partial;
  MPI_Recv(partial.data(), interleaved, MPI_DOUBLE, communicator_.rank() - 1, 1, mpi_comm(communicator_),
           MPI_STATUS_IGNORE);
  return partial;
}

void ReproducibleSum::finish_block() {
  send_partial(partial_, site_);
  partial_ = {};
}

void ReproducibleSum::send_partial(const Partial& partial, std::int64_t stop) {
  if (stop % block != 0 && stop != total_sites_) {
    MPI_Send(partial.data(), interleaved, MPI_DOUBLE, communicator_.rank() + 1, 1, mpi_comm(communicator_));
    return;
  }
  const double sum =
      ((partial[0] + partial[1]) + (partial[2] + partial[3])) + ((partial[4] + partial[5]) + (partial[6] + partial[7]));
  // The block that another rank began is completed after the others and precedes them.
  if (has_foreign_block_ && stop == own_begin_) {
    blocks_.insert(blocks_.begin(), sum);
  } else {
    blocks_.push_back(sum);
  }
}

double ReproducibleSum::total() {
  double sum = 0.0;
  if (communicator_.size() == 1) return compensated_sum(blocks_);
  const std::vector<double> all = communicator_.gather(blocks_);
  if (communicator_.is_root()) sum = compensated_sum(all);
  communicator_.broadcast(std::span<double>(&sum, 1));
  return sum;
}

}  // namespace bathline
