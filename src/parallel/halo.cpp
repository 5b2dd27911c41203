// Copies of the neighbours' sites: the messages are planned once, from the layout alone.
#include "parallel/halo.hpp"

#include <vector>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

struct Range {
  std::int64_t first = 0;
  std::int64_t end = 0;
  bool empty() const { return end <= first; }
};

Range intersection(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.end, b.end)}; }

}  // namespace

struct Halo::Plan {
  /// Which local sites go to or come from `rank`.
  struct Message {
    int rank;
    std::int64_t offset;
    std::int64_t count;
    std::vector<double> buffer;
  };

  MPI_Comm comm;
  std::vector<Message> outgoing;
  std::vector<Message> incoming;
  std::vector<MPI_Request> requests;
};

Halo::~Halo() = default;
Halo::Halo(Halo&&) noexcept = default;

Halo::Halo(const Layout& layout, const Communicator& communicator, int depth, int fields)
    : plan_(std::make_unique<Plan>()) {
  plan_->comm = communicator.size() > 1 ? mpi_comm(communicator) : MPI_COMM_NULL;
  const auto owned = [&](int rank) { return Range{layout.first(rank), layout.first(rank + 1)}; };
  const auto before = [&](int rank) {
    return layout.count(rank) == 0 ? Range{}
                                   : Range{std::max<std::int64_t>(0, layout.first(rank) - depth), layout.first(rank)};
  };
  const auto after = [&](int rank) {
    return layout.count(rank) == 0
               ? Range{}
               : Range{layout.first(rank + 1), std::min(layout.total(), layout.first(rank + 1) + depth)};
  };
  const int own_rank = communicator.rank();
  const Range local = owned(own_rank);
  left_ = static_cast<int>(before(own_rank).end - before(own_rank).first);
  right_ = static_cast<int>(after(own_rank).end - after(own_rank).first);
  const std::int64_t origin = local.first - left_;

  const auto add = [&](std::vector<Plan::Message>& list, int rank, Range sites) {
    if (sites.empty()) return;
    const std::int64_t count = sites.end - sites.first;
    list.push_back({rank, sites.first - origin, count, std::vector<double>(static_cast<std::size_t>(count * fields))});
  };
  // Going outward from this rank, the first rank without a common range ends the search.
  for (int step : {-1, 1}) {
    for (int other = own_rank + step; other >= 0 && other < layout.active_ranks() && !local.empty(); other += step) {
      const Range outgoing_sites = intersection(step < 0 ? after(other) : before(other), local);
      const Range incoming_sites = intersection(step < 0 ? before(own_rank) : after(own_rank), owned(other));
      if (outgoing_sites.empty() && incoming_sites.empty()) break;
      add(plan_->outgoing, other, outgoing_sites);
      add(plan_->incoming, other, incoming_sites);
    }
  }
  plan_->requests.resize(plan_->outgoing.size() + plan_->incoming.size());
}

void Halo::exchange(std::span<double* const> arrays) {
  if (plan_->requests.empty()) return;
  auto request = plan_->requests.begin();
  for (Plan::Message& message : plan_->incoming) {
    MPI_Irecv(message.buffer.data(), static_cast<int>(message.buffer.size()), MPI_DOUBLE, message.rank, 0, plan_->comm,
              &*request++);
  }
  for (Plan::Message& message : plan_->outgoing) {
    double* to = message.buffer.data();
    for (const double* array : arrays) to = std::copy_n(array + message.offset, message.count, to);
    MPI_Isend(message.buffer.data(), static_cast<int>(message.buffer.size()), MPI_DOUBLE, message.rank, 0, plan_->comm,
              &*request++);
  }
  MPI_Waitall(static_cast<int>(plan_->requests.size()), plan_->requests.data(), MPI_STATUSES_IGNORE);
  for (const Plan::Message& message : plan_->incoming) {
    const double* from = message.buffer.data();
    for (double* array : arrays) {
      std::copy_n(from, message.count, array + message.offset);
      from += message.count;
    }
  }
}

}  // namespace bathline
