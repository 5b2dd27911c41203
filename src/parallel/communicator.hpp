// The ranks of a run and their collective operations. The rest of the program but solve/ and record/ passes messages
// through this, `halo.hpp` and the reproducible sums only.
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

  /// Copies the values of rank `from` to all ranks.
  void broadcast(std::span<double> values, int from = 0) const;
  void broadcast(std::span<std::int64_t> values, int from = 0) const;
  std::string broadcast(const std::string& text, int from = 0) const;
  bool broadcast(bool value, int from = 0) const;
  void broadcast(const void* array, int from = 0) const = delete;  // else an array or literal would convert to bool

  /// `local` of every rank, in the order of the ranks; every rank passes the same number of values.
  std::vector<double> gather_all(std::span<const double> local) const;
  /// The same into storage of the caller, `all.size() == size() * local.size()`; allocates nothing.
  void gather_all(std::span<const double> local, std::span<double> all) const;
  /// `local` of every rank one after the other on rank 0, nothing elsewhere; the lengths may differ.
  std::vector<double> gather(std::span<const double> local) const;
  /// The inverse: cuts `all` of rank 0 into pieces of the lengths that the ranks request.
  void scatter(std::span<const double> all, std::span<double> local) const;

  /// The group of the ranks that pass the same `group`, in their order.
  Communicator split(int group) const;

  bool any(bool local) const;
  double max(double local) const;  ///< NaN if any rank has NaN
  std::int64_t sum(std::int64_t local) const;
  void barrier() const;

  /// Number of ranks that share the memory of this rank's node.
  int ranks_on_node() const;

  const Handle& handle() const { return *handle_; }

 private:
  std::shared_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

/// MPI from construction to destruction; one per program. A process that no launcher has started initialises it only
/// when it is needed, because this takes several times as long as a small run. MPI that was initialised elsewhere is
/// not finalised.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  const Communicator& world() const { return *world_; }
  /// Ends all ranks at once; for failures that only one rank has detected.
  [[noreturn]] void abort(int exit_code) const;

 private:
  std::unique_ptr<Communicator> world_;
};

}  // namespace bathline
