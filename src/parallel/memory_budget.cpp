// Available memory of a node, against what its ranks request.
#include "parallel/memory_budget.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "parallel/mpi_handle.hpp"

namespace bathline {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The number in a file; infinity if there is none, as in "max".
double number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double number = 0.0;
  return file >> number ? number : infinity;
}

/// The number that follows `name` in a file of names and numbers; zero if the name is missing.
double number_named(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  std::string line, word;
  double number = 0.0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (words >> word >> number && word == name) return number;
  }
  return 0.0;
}

/// Memory left in a control group and its ancestors, in bytes. Reclaimable cached files count as used there and are
/// added.
double spare_up_to(const std::filesystem::path& mount, const std::filesystem::path& group, const char* limit,
                   const char* used, const char* reclaimable) {
  double spare = infinity;
  for (std::filesystem::path path = group.relative_path();; path = path.parent_path()) {
    const std::filesystem::path folder = mount / path;
    const double max_bytes = number_in(folder / limit), used_bytes = number_in(folder / used);
    if (max_bytes < infinity && used_bytes < infinity) {
      spare = std::min(spare, max_bytes - used_bytes + number_named(folder / "memory.stat", reclaimable));
    }
    if (path.empty()) return spare;
  }
}

/// Free memory as the kernel estimates it, or as control groups limit it.
double available_on_node() {
  const double kibibytes = number_named("/proc/meminfo", "MemAvailable:");
  const double free = kibibytes > 0.0 ? 1024.0 * kibibytes : infinity;
  return std::max(0.0, std::min(free, cgroup_available_bytes("/proc/self/cgroup", "/sys/fs/cgroup")));
}

/// What the limits on address space and data (`ulimit -v`, `-d`) leave to this process.
double available_to_process() {
  // In pages: all addresses, resident, shared, text, nothing, data.
  double pages[6] = {};
  std::ifstream file("/proc/self/statm");
  for (double& count : pages) file >> count;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  double available = infinity;
  for (const auto& [resource, used] : {std::pair(RLIMIT_AS, pages[0]), std::pair(RLIMIT_DATA, pages[5])}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    available = std::min(available, std::max(0.0, static_cast<double>(limit.rlim_cur) - used * page));
  }
  return available;
}

}  // namespace

double cgroup_available_bytes(const std::filesystem::path& groups, const std::filesystem::path& mount) {
  double spare = infinity;
  std::ifstream file(groups);
  // number:controllers:path, without controllers in version 2
  for (std::string number, controllers, path;
       std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path);) {
    if (controllers.empty()) {
      spare = std::min(spare, spare_up_to(mount, path, "memory.max", "memory.current", "inactive_file"));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      spare = std::min(spare, spare_up_to(mount / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                          "total_inactive_file"));
    }
  }
  return spare;
}

MemoryBudget memory_budget(const Communicator& communicator, double bytes) {
  MemoryBudget budget;
  budget.needed = bytes;
  budget.available = available_on_node();
  if (communicator.size() > 1) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(mpi_comm(communicator), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &budget.needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Allreduce(MPI_IN_PLACE, &budget.available, 1, MPI_DOUBLE, MPI_MIN, node);
    MPI_Comm_free(&node);
  }
  const double available = available_to_process();
  if (available - bytes < budget.available - budget.needed) {
    budget = {.needed = bytes, .available = available, .is_rank_limit = true};
  }
  if (communicator.size() == 1) return budget;
  // All ranks return the numbers of the rank with the smallest margin.
  struct {
    double spare;
    int rank;
  } tightest{budget.available - budget.needed, communicator.rank()};
  MPI_Allreduce(MPI_IN_PLACE, &tightest, 1, MPI_DOUBLE_INT, MPI_MINLOC, mpi_comm(communicator));
  double numbers[] = {budget.needed, budget.available, budget.is_rank_limit ? 1.0 : 0.0};
  communicator.broadcast(std::span<double>(numbers), tightest.rank);
  return {numbers[0], numbers[1], numbers[2] != 0.0};
}

std::int64_t peak_memory(const Communicator& communicator) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::int64_t bytes = std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
  return communicator.sum(bytes);
}

}  // namespace bathline
