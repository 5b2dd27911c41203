// Sums that do not depend on the number of ranks: passing partial blocks on and adding the blocks up.
#include "parallel/reproducible_sum.hpp"

#include <cmath>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

/// Neumaier's compensated sum: the order is fixed, so the bits are; the compensation keeps 10^5 blocks accurate.
double compensated_sum(const std::vector<double>& values) {
  double sum = 0.0;
  double lost = 0.0;
  for (double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return sum + lost;
}

}  // namespace

ReproducibleSum::ReproducibleSum(const Layout& layout, const Communicator& communicator)
    : communicator_(communicator),
      all_(layout.total()),
      first_(layout.first(communicator.rank())),
      end_(layout.first(communicator.rank() + 1)),
      own_(std::min(end_, (first_ + block - 1) / block * block)),
      first_block_is_foreign_(end_ > first_ && first_ % block != 0) {}

void ReproducibleSum::begin() {
  site_ = own_;
  partial_ = {};
  blocks_.clear();
  // Not before: a line may be described that nobody has the memory for.
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
  if (stop % block != 0 && stop != all_) {
    MPI_Send(partial.data(), interleaved, MPI_DOUBLE, communicator_.rank() + 1, 1, mpi_comm(communicator_));
    return;
  }
  const double sum =
      ((partial[0] + partial[1]) + (partial[2] + partial[3])) + ((partial[4] + partial[5]) + (partial[6] + partial[7]));
  // The foreign block is finished after the others and stands before them.
  if (first_block_is_foreign_ && stop == own_) {
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
