// How much memory a node has left, against what its ranks ask for.
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

/// The one number in a file; infinity where there is none, as in "max".
double number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  double number = 0.0;
  return file >> number ? number : infinity;
}

/// The number behind a name in a file of names and numbers; zero where it is not there.
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

/// What a group and all that it lies in leave. Files that it has read and could forget count as used by it, and are
/// not.
double spare_up_to(const std::filesystem::path& mount, const std::filesystem::path& group, const char* limit,
                   const char* used, const char* forgettable) {
  double spare = infinity;
  for (std::filesystem::path at = group.relative_path();; at = at.parent_path()) {
    const std::filesystem::path folder = mount / at;
    const double most = number_in(folder / limit), now = number_in(folder / used);
    if (most < infinity && now < infinity) {
      spare = std::min(spare, most - now + number_named(folder / "memory.stat", forgettable));
    }
    if (at.empty()) return spare;
  }
}

/// Free memory as the kernel estimates it, or what control groups leave of it.
double available_on_node() {
  const double kibibytes = number_named("/proc/meminfo", "MemAvailable:");
  const double free = kibibytes > 0.0 ? 1024.0 * kibibytes : infinity;
  return std::max(0.0, std::min(free, cgroup_available_bytes("/proc/self/cgroup", "/sys/fs/cgroup")));
}

/// What is left of the addresses and of the data that this process may have.
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
  MemoryBudget mine;
  mine.needed = bytes;
  mine.available = available_on_node();
  if (communicator.size() > 1) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(mpi_comm(communicator), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &mine.needed, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Allreduce(MPI_IN_PLACE, &mine.available, 1, MPI_DOUBLE, MPI_MIN, node);
    MPI_Comm_free(&node);
  }
  const double own = available_to_process();
  if (own - bytes < mine.available - mine.needed) mine = {.needed = bytes, .available = own, .of_one_rank = true};
  if (communicator.size() == 1) return mine;
  // The one with the least to spare speaks for all.
  struct {
    double spare;
    int rank;
  } least{mine.available - mine.needed, communicator.rank()};
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, mpi_comm(communicator));
  double numbers[] = {mine.needed, mine.available, mine.of_one_rank ? 1.0 : 0.0};
  communicator.broadcast(std::span<double>(numbers), least.rank);
  return {numbers[0], numbers[1], numbers[2] != 0.0};
}

std::int64_t peak_memory(const Communicator& communicator) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::int64_t bytes = std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
  return communicator.sum(bytes);
}

}  // namespace bathline
