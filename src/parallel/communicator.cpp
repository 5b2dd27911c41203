// Message passing behind `Communicator` and `MpiSession`.
// A single MPI call counts its elements in an int, so everything long travels in pieces of bounded length; the bound
// also keeps the buffers that reorder the pieces small.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

/// Most elements that one call moves, over all ranks together (32 MiB of doubles).
constexpr std::int64_t piece = std::int64_t{1} << 22;

template <class T>
void broadcast_pieces(T* data, std::size_t count, MPI_Datatype type, int from, MPI_Comm comm) {
  for (std::size_t start = 0; start < count; start += piece) {
    MPI_Bcast(data + start, static_cast<int>(std::min<std::size_t>(piece, count - start)), type, from, comm);
  }
}

/// Elements that each rank contributes to one call that collects from, or deals out to, `size` ranks.
std::int64_t share_of_a_piece(int size) { return std::max<std::int64_t>(1, piece / size); }

/// What each rank has in the round that begins at element `done`, and where it stands in that round's buffer.
struct Round {
  Round(std::span<const std::int64_t> lengths, std::int64_t done, std::int64_t share)
      : counts(lengths.size()), offsets(lengths.size()) {
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      counts[rank] = static_cast<int>(std::clamp<std::int64_t>(lengths[rank] - done, 0, share));
      offsets[rank] = total;
      total += counts[rank];
    }
  }
  std::vector<int> counts, offsets;
  int total = 0;
};

/// Lengths of all ranks on rank 0; elsewhere as many zeros.
std::vector<std::int64_t> lengths_on_root(std::size_t mine, MPI_Comm comm, int size) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(size), 0);
  const auto length = static_cast<std::int64_t>(mine);
  MPI_Gather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, 0, comm);
  return lengths;
}

std::vector<std::int64_t> starts_of(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> starts(lengths.size() + 1, 0);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) starts[rank + 1] = starts[rank] + lengths[rank];
  return starts;
}

std::int64_t longest(std::size_t mine, MPI_Comm comm) {
  const auto length = static_cast<std::int64_t>(mine);
  std::int64_t most = 0;
  MPI_Allreduce(&length, &most, 1, MPI_INT64_T, MPI_MAX, comm);
  return most;
}

bool mpi_is_running() {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

/// Whether this program and nobody else has started message passing, and how many sessions there are to end it.
bool started_here = false;
int sessions = 0;

/// Whether a launcher (mpirun, srun, ...) has started this process, by what launchers tell their processes.
bool is_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

/// Says to Open MPI that this process is alone, unless the user says otherwise: it would look for networks and start a
/// daemon, which takes half a second. Without the daemon all lone processes would share one session directory, which
/// the first to end removes under the others; they need none. Open MPI's own way to files would keep a shared position
/// there, or else in a file beside the result that a kill leaves behind; ROMIO makes one only for who asks for it.
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

MPI_Comm mpi_comm_self() {
  start_mpi();
  return MPI_COMM_SELF;
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

void Communicator::gather_all(std::span<const double> mine, std::span<double> all) const {
  if (size_ == 1) {
    std::copy(mine.begin(), mine.end(), all.begin());
    return;
  }
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, handle_->comm);
}

std::vector<double> Communicator::gather_all(std::span<const double> mine) const {
  if (size_ == 1) return {mine.begin(), mine.end()};
  const auto length = static_cast<std::int64_t>(mine.size());
  std::vector<double> all(mine.size() * static_cast<std::size_t>(size_));
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < length; done += share_of_a_piece(size_)) {
    const std::int64_t count = std::min(share_of_a_piece(size_), length - done);
    buffer.resize(static_cast<std::size_t>(count * size_));
    MPI_Allgather(mine.data() + done, static_cast<int>(count), MPI_DOUBLE, buffer.data(), static_cast<int>(count),
                  MPI_DOUBLE, handle_->comm);
    for (int rank = 0; rank < size_; ++rank) {
      std::copy_n(buffer.data() + rank * count, count, all.data() + rank * length + done);
    }
  }
  return all;
}

std::vector<double> Communicator::gather(std::span<const double> mine) const {
  if (size_ == 1) return {mine.begin(), mine.end()};
  const auto lengths = lengths_on_root(mine.size(), handle_->comm, size_);
  const auto starts = starts_of(lengths);
  const std::int64_t share = share_of_a_piece(size_);
  const std::int64_t most = longest(mine.size(), handle_->comm);
  std::vector<double> all(static_cast<std::size_t>(starts.back()));
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < most; done += share) {
    const Round round(lengths, done, share);
    buffer.resize(static_cast<std::size_t>(round.total));
    const auto length = static_cast<std::int64_t>(mine.size());
    const auto count = static_cast<int>(std::clamp<std::int64_t>(length - done, 0, share));
    MPI_Gatherv(mine.data() + std::min(done, length), count, MPI_DOUBLE, buffer.data(), round.counts.data(),
                round.offsets.data(), MPI_DOUBLE, 0, handle_->comm);
    for (std::size_t rank = 0; is_root() && rank < lengths.size(); ++rank) {
      std::copy_n(buffer.data() + round.offsets[rank], round.counts[rank],
                  all.data() + starts[rank] + std::min(done, lengths[rank]));
    }
  }
  return all;
}

void Communicator::scatter(std::span<const double> all, std::span<double> mine) const {
  const auto lengths = size_ == 1 ? std::vector<std::int64_t>{static_cast<std::int64_t>(mine.size())}
                                  : lengths_on_root(mine.size(), handle_->comm, size_);
  const auto starts = starts_of(lengths);
  const bool fits = broadcast(!is_root() || starts.back() == static_cast<std::int64_t>(all.size()));
  if (!fits) throw std::logic_error("scatter: the ranks ask for another number of values than rank 0 has");
  if (size_ == 1) {
    std::copy(all.begin(), all.end(), mine.begin());
    return;
  }
  const std::int64_t share = share_of_a_piece(size_);
  const std::int64_t most = longest(mine.size(), handle_->comm);
  std::vector<double> buffer;
  for (std::int64_t done = 0; done < most; done += share) {
    const Round round(lengths, done, share);
    buffer.resize(static_cast<std::size_t>(round.total));
    for (std::size_t rank = 0; is_root() && rank < lengths.size(); ++rank) {
      std::copy_n(all.data() + starts[rank] + std::min(done, lengths[rank]), round.counts[rank],
                  buffer.data() + round.offsets[rank]);
    }
    const auto length = static_cast<std::int64_t>(mine.size());
    const auto count = static_cast<int>(std::clamp<std::int64_t>(length - done, 0, share));
    MPI_Scatterv(buffer.data(), round.counts.data(), round.offsets.data(), MPI_DOUBLE,
                 mine.data() + std::min(done, length), count, MPI_DOUBLE, 0, handle_->comm);
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

bool Communicator::any(bool mine) const {
  if (size_ == 1) return mine;
  int here = mine ? 1 : 0;
  int anywhere = 0;
  MPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_LOR, handle_->comm);
  return anywhere != 0;
}

double Communicator::max(double mine) const {
  if (size_ == 1) return mine;
  // MPI leaves open what the maximum with a NaN is, and a NaN must not get lost on its way to whoever judges a norm.
  const double here[2] = {std::isnan(mine) ? 1.0 : 0.0, mine};
  double anywhere[2] = {0.0, mine};
  MPI_Allreduce(here, anywhere, 2, MPI_DOUBLE, MPI_MAX, handle_->comm);
  return anywhere[0] > 0.0 ? std::nan("") : anywhere[1];
}

std::int64_t Communicator::sum(std::int64_t mine) const {
  if (size_ == 1) return mine;
  std::int64_t total = 0;
  MPI_Allreduce(&mine, &total, 1, MPI_INT64_T, MPI_SUM, handle_->comm);
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
  if (--sessions == 0 && started_here && mpi_is_running()) MPI_Finalize();
}

void MpiSession::abort(int exit_code) const {
  std::fflush(nullptr);
  if (mpi_is_running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // alone; MPI_Abort does not return
}

}  // namespace bathline
