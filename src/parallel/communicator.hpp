// The ranks of a run and what they can tell each other. With `halo.hpp` and `ordered_sum.hpp` the whole of what the
// rest of the program knows of message passing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bathline {

/// A group of ranks. Copies refer to the same group. Every member function but rank() and size() is collective.
class Communicator {
 public:
  struct Handle;  // defined in mpi_handle.hpp, for parallel/, solve/ and record/ only

  explicit Communicator(std::shared_ptr<Handle> handle);

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  /// Rank 0's values to everyone.
  void broadcast(std::span<double> values, int from = 0) const;
  void broadcast(std::span<std::int64_t> values, int from = 0) const;
  std::string broadcast(const std::string& text, int from = 0) const;
  bool broadcast(bool value, int from = 0) const;
  void broadcast(const void* array, int from = 0) const = delete;  // else an array or literal would pass for a bool

  /// `mine` of every rank, in the order of the ranks; every rank passes the same number of values.
  std::vector<double> gather_all(std::span<const double> mine) const;
  /// The same into storage of the caller, `all.size() == size() * mine.size()`; allocates nothing.
  void gather_all(std::span<const double> mine, std::span<double> all) const;
  /// `mine` of every rank one after the other on rank 0, nothing elsewhere; the lengths may differ.
  std::vector<double> gather(std::span<const double> mine) const;
  /// The converse: rank 0's `all` cut into pieces of the lengths that the ranks ask for.
  void scatter(std::span<const double> all, std::span<double> mine) const;

  /// The ranks that pass the same `group`, in their order, as a group of their own.
  Communicator split(int group) const;

  bool any(bool mine) const;
  double max(double mine) const;  ///< NaN if any rank has NaN
  std::int64_t sum(std::int64_t mine) const;
  void barrier() const;

  /// Number of ranks that share this rank's memory, and this rank's place among them.
  int ranks_on_node() const;

  const Handle& handle() const { return *handle_; }

 private:
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

/// Message passing from construction to destruction; one per program. A process that no launcher has started is alone
/// and does without until something needs it, because starting it takes several times as long as a small run. Where
/// somebody else has started it already, it is left running at the end.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  const Communicator& world() const { return *world_; }
  /// Ends all ranks at once; for failures that one rank alone has seen.
  [[noreturn]] void abort(int exit_code) const;

 private:
  std::unique_ptr<Communicator> world_;
};

}  // namespace bathline
