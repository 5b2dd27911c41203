// MPI calls of `Communicator` and `MpiSession`.
// A single MPI call counts its elements in an int, so long arrays are sent in pieces of bounded length; the bound also
// keeps the buffers that reorder the pieces small.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

/// Maximum number of elements of one call, over all ranks together (32 MiB of doubles).
constexpr std::int64_t max_elements = std::int64_t{1} << 22;

template <class T>
void broadcast_pieces(T* data, std::size_t count, MPI_Datatype type, int from, MPI_Comm comm) {
  for (std::size_t start = 0; start < count; start += max_elements) {
    MPI_Bcast(data + start, static_cast<int>(std::min<std::size_t>(max_elements, count - start)), type, from, comm);
  }
}

/// Elements of each rank in one call that gathers from, or scatters to, `size` ranks.
std::int64_t elements_per_rank(int size) { return std::max<std::int64_t>(1, max_elements / size); }

/// Counts and buffer offsets of the ranks in the round that begins at element `done`.
struct Round {
  Round(std::span<const std::int64_t> lengths, std::int64_t done, std::int64_t per_rank)
      : counts(lengths.size()), offsets(lengths.size()) {
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      counts[rank] = static_cast<int>(std::clamp<std::int64_t>(lengths[rank] - done, 0, per_rank));
      offsets[rank] = total;
      total += counts[rank];
    }
  }
  std::vector<int> counts, offsets;
  int total = 0;
};

/// The lengths of all ranks, on rank 0; on the others as many zeros.
std::vector<std::int64_t> lengths_on_root(std::size_t local, MPI_Comm comm, int size) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(size), 0);
  const auto length = static_cast<std::int64_t>(local);
  MPI_Gather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, 0, comm);
  return lengths;
}

std::vector<std::int64_t> starts_of(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> starts(lengths.size() + 1, 0);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) starts[rank + 1] = starts[rank] + lengths[rank];
  return starts;
}

std::int64_t longest(std::size_t local, MPI_Comm comm) {
  const auto length = static_cast<std::int64_t>(local);
  std::int64_t max_length = 0;
  MPI_Allreduce(&length, &max_length, 1, MPI_INT64_T, MPI_MAX, comm);
  return max_length;
}

bool mpi_is_running() {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

/// Whether `start_mpi` has initialised MPI, and the number of sessions: the last of them finalises it then.
bool started_here = false;
int sessions = 0;
std::vector<void (*)()> ends;

/// Whether a launcher (mpirun, srun, ...) has started this process, by the variables that launchers set.
bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

/// Tells Open MPI that this process is a singleton, unless the user has set these variables: it would look for networks
/// and start a daemon, which takes half a second. Without the daemon all singletons would share one session directory,
/// which the first to end removes; they need none. Open MPI's own I/O component (ompio) would keep a shared file
/// pointer there, or else in a file beside the result that a kill leaves behind; ROMIO creates one only on request.
void configure_singleton() {
  constexpr std::pair<const char*, const char*> settings[] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                              {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                              {"OMPI_MCA_io", "^ompio"},
                                                              {"OMPI_MCA_pml", "ob1"},
                                                              {"OMPI_MCA_btl", "self"}};
  for (const auto& [name, value] : settings) setenv(name, value, 0);
}

void start_mpi() {
  if (mpi_is_running()) return;
  if (!is_launched()) configure_singleton();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  started_here = true;
}

}  // namespace

MPI_Comm mpi_comm(const Communicator& communicator) {
  start_mpi();
  return communicator.handle().comm;
}

void at_end_of_mpi(void (*end)()) { ends.push_back(end); }

Communicator this_process() {
  start_mpi();
  return Communicator(std::make_shared<Communicator::Handle>(Communicator::Handle{MPI_COMM_SELF}));
}

Communicator::Communicator(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {
  if (!mpi_is_running()) return;  // this process is alone
  MPI_Comm_rank(handle_->comm, &rank_);
  MPI_Comm_size(handle_->comm, &size_);
}

void Communicator::broadcast(std::span<double> values, int from) const {
  if (size_ > 1) broadcast_pieces(values.data(), values.size(), MPI_DOUBLE, from, handle_->comm);
}

void Communicator::broadcast(std::span<std::int64_t> values, int from) const {
  if (size_ > 1) broadcast_pieces(values.data(), values.size(), MPI_INT64_T, from, handle_->comm);
}

std::string Communicator::broadcast(const std::string& text, int from) const {
  if (size_ == 1) return text;
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(std::span<std::int64_t>(&length, 1), from);
  std::string result = rank_ == from ? text : std::string(static_cast<std::size_t>(length), '\0');
  broadcast_pieces(result.data(), result.size(), MPI_CHAR, from, handle_->comm);
  return result;
}

bool Communicator::broadcast(bool value, int from) const {
  std::int64_t number = value ? 1 : 0;
  broadcast(std::span<std::int64_t>(&number, 1), from);
  return number != 0;
}

void Communicator::gather_all(std::span<const double> local, std::span<double> all) const {
  if (size_ == 1) {
    std::copy(local.begin(), local.end(), all.begin());
    return;
  }
  const int count = static_cast<int>(local.size());
  MPI_Allgather(local.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, handle_->comm);
}

std::vector<double> Communicator::gather_all(std::span<const double> local) const {
  if (size_ == 1) return {local.begin(), local.end()};
  const auto length = static_cast<std::int64_t>(local.size());
  std::vector<double> all(local.size() * static_cast<std::size_t>(size_));
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < length; done += elements_per_rank(size_)) {
    const std::int64_t count = std::min(elements_per_rank(size_), length - done);
    buffer.resize(static_cast<std::size_t>(count * size_));
    MPI_Allgather(local.data() + done, static_cast<int>(count), MPI_DOUBLE, buffer.data(), static_cast<int>(count),
                  MPI_DOUBLE, handle_->comm);
    for (int rank = 0; rank < size_; ++rank) {
      std::copy_n(buffer.data() + rank * count, count, all.data() + rank * length + done);
    }
  }
  return all;
}

std::vector<double> Communicator::gather(std::span<const double> local) const {
  if (size_ == 1) return {local.begin(), local.end()};
  const auto lengths = lengths_on_root(local.size(), handle_->comm, size_);
  const auto starts = starts_of(lengths);
  const std::int64_t per_rank = elements_per_rank(size_);
  const std::int64_t max_length = longest(local.size(), handle_->comm);
  std::vector<double> all(static_cast<std::size_t>(starts.back()));
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < max_length; done += per_rank) {
    const Round round(lengths, done, per_rank);
    buffer.resize(static_cast<std::size_t>(round.total));
    const auto length = static_cast<std::int64_t>(local.size());
    const auto count = static_cast<int>(std::clamp<std::int64_t>(length - done, 0, per_rank));
    MPI_Gatherv(local.data() + std::min(done, length), count, MPI_DOUBLE, buffer.data(), round.counts.data(),
                round.offsets.data(), MPI_DOUBLE, 0, handle_->comm);
    for (std::size_t rank = 0; is_root() && rank < lengths.size(); ++rank) {
      std::copy_n(buffer.data() + round.offsets[rank], round.counts[rank],
                  all.data() + starts[rank] + std::min(done, lengths[rank]));
    }
  }
  return all;
}

void Communicator::scatter(std::span<const double> all, std::span<double> local) const {
  const auto lengths = size_ == 1 ? std::vector<std::int64_t>{static_cast<std::int64_t>(local.size())}
                                  : lengths_on_root(local.size(), handle_->comm, size_);
  const auto starts = starts_of(lengths);
  const bool fits = broadcast(!is_root() || starts.back() == static_cast<std::int64_t>(all.size()));
  if (!fits) throw std::logic_error("scatter: the ranks ask for another number of values than rank 0 has");
  if (size_ == 1) {
    std::copy(all.begin(), all.end(), local.begin());
    return;
  }
  const std::int64_t per_rank = elements_per_rank(size_);
  const std::int64_t max_length = longest(local.size(), handle_->comm);
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < max_length; done += per_rank) {
    const Round round(lengths, done, per_rank);
    buffer.resize(static_cast<std::size_t>(round.total));
    for (std::size_t rank = 0; is_root() && rank < lengths.size(); ++rank) {
      std::copy_n(all.data() + starts[rank] + std::min(done, lengths[rank]), round.counts[rank],
                  buffer.data() + round.offsets[rank]);
    }
    const auto length = static_cast<std::int64_t>(local.size());
    const auto count = static_cast<int>(std::clamp<std::int64_t>(length - done, 0, per_rank));
    MPI_Scatterv(buffer.data(), round.counts.data(), round.offsets.data(), MPI_DOUBLE,
                 local.data() + std::min(done, length), count, MPI_DOUBLE, 0, handle_->comm);
  }
}

Communicator Communicator::split(int group) const {
  if (size_ == 1) return *this;
  std::shared_ptr<Handle> part(new Handle, [](Handle* handle) {
    if (mpi_is_running()) MPI_Comm_free(&handle->comm);
    delete handle;
  });
  MPI_Comm_split(mpi_comm(*this), group, rank_, &part->comm);
  return Communicator(std::move(part));
}

bool Communicator::any(bool local) const {
  if (size_ == 1) return local;
  int own = local ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LOR, handle_->comm);
  return all != 0;
}

double Communicator::max(double local) const {
  if (size_ == 1) return local;
  // MPI does not define the maximum with a NaN, and a NaN must reach the check of a norm.
  const double own[2] = {std::isnan(local) ? 1.0 : 0.0, local};
  double all[2] = {0.0, local};
  MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, handle_->comm);
  return all[0] > 0.0 ? std::nan("") : all[1];
}

std::int64_t Communicator::sum(std::int64_t local) const {
  if (size_ == 1) return local;
  std::int64_t total = 0;
  MPI_Allreduce(&local, &total, 1, MPI_INT64_T, MPI_SUM, handle_->comm);
  return total;
}

void Communicator::barrier() const {
  if (size_ > 1) MPI_Barrier(handle_->comm);
}

int Communicator::ranks_on_node() const {
  if (size_ == 1) return 1;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(handle_->comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks;
}

MpiSession::MpiSession() {
  ++sessions;
  if (is_launched()) start_mpi();
  world_ = std::make_unique<Communicator>(std::make_shared<Communicator::Handle>(Communicator::Handle{MPI_COMM_WORLD}));
}

MpiSession::~MpiSession() {
  world_.reset();
  if (--sessions > 0 || !started_here || !mpi_is_running()) return;
  for (const auto end : ends) end();
  MPI_Finalize();
}

void MpiSession::abort(int exit_code) const {
  std::fflush(nullptr);
  if (mpi_is_running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // alone; MPI_Abort does not return
}

}  // namespace bathline
