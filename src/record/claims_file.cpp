// Writing the claims and the status `complete` to a closed result file by one process, and reading claims.
// Tested by tests/record/claims_test.cpp.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "parallel/mpi_handle.hpp"
#include "record/claims.hpp"
#include "record/disk_space.hpp"
#include "record/dimension_scale.hpp"

namespace bathline {

namespace {

constexpr std::int64_t metadata_bytes = 64 * 1024;

/// Opens the file for writing, calls `change` and closes it. Disk space is reserved first: a file whose metadata was
/// written in part would be lost.
template <class Change>
void alter(const std::string& path, std::int64_t bytes, Change&& change) {
  hdf5::prepare_library();
  const auto refuse = [&](const std::string& reason) {
    throw FileError(fmt::format("cannot write {}: {}", path, reason));
  };
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) refuse(system_error_message(errno));
  struct stat status {};
  int error = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0) error = preallocate(descriptor, status.st_size, status.st_size + bytes + metadata_bytes);
  std::string problem = error == 0 ? "" : system_error_message(error);
  if (error == 0) {
    try {
      const hdf5::PropertyList access = hdf5::access_by(mpi_comm_self());
      hdf5::File file(hdf5::check(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id()), "opening"));
      change(file.id());
      hdf5::check(file.close(), "H5Fclose");
    } catch (const hdf5::Failure& failure) {
      problem = failure.what();
    }
  }
  release_preallocated(descriptor);
  ::close(descriptor);
  if (!problem.empty()) refuse(problem);
}

struct TextVariable {
  const char* name;
  const char* long_name;
  std::string ClaimResult::*member;
};
constexpr TextVariable text_variables[] = {
    {"name", "name of the claim", &ClaimResult::name},
    {"quantity", "measured quantity", &ClaimResult::quantity},
    {"source", "source of the claim", &ClaimResult::source},
    {"note", "remark", &ClaimResult::note},
    {"problem", "why the quantity could not be measured, or what is unexpected", &ClaimResult::problem},
};

struct NumberVariable {
  const char* name;
  const char* long_name;
  double ClaimResult::*member;
};
constexpr NumberVariable number_variables[] = {
    {"measured", "measured value", &ClaimResult::measured},
    {"expected", "expected value", &ClaimResult::expected},
    {"lower", "lower bound that the claim allows", &ClaimResult::lower},
    {"upper", "upper bound that the claim allows", &ClaimResult::upper},
    {"uncertainty", "derived uncertainty of the claimed value", &ClaimResult::uncertainty},
};

struct FlagVariable {
  const char* name;
  const char* long_name;
  bool ClaimResult::*member;
};
constexpr FlagVariable flag_variables[] = {
    {"passed", "1 if the claim passed", &ClaimResult::passed},
    {"supported", "0 if the recipe expects the statement to fail", &ClaimResult::supported},
};

/// The values of one member of all claims.
template <class Value, class Member>
std::vector<Value> column(std::span<const ClaimResult> claims, Member member) {
  std::vector<Value> values;
  for (const auto& claim : claims) values.push_back(claim.*member);
  return values;
}

void write_group(hid_t file, std::span<const ClaimResult> claims) {
  if (hdf5::exists(file, "claims")) hdf5::check(H5Ldelete(file, "claims", H5P_DEFAULT), "replacing the claims");
  const auto group = hdf5::ensure_group(file, "claims");
  const Dimension claim = numbered_dimension("claim", claims.size());
  const hsize_t shape[1] = {claims.size()};
  std::vector<NewScale> scales;
  const auto finish = [&](const hdf5::Dataset& variable, const auto& values, const char* long_name) {
    hdf5::write_all(variable, values);
    hdf5::describe(variable.id(), "1", long_name);
    attach_scale(file, "claims", claim, variable, 0, scales);
  };
  for (const auto& [name, long_name, member] : text_variables) {
    const auto texts = column<std::string>(claims, member);
    const std::size_t width = hdf5::width_of(texts);
    finish(hdf5::create_texts(group.id(), name, claims.size(), width), hdf5::TextColumn(texts, width), long_name);
  }
  for (const auto& [name, long_name, member] : number_variables) {
    const auto values = column<double>(claims, member);
    finish(hdf5::create(group.id(), name, H5T_IEEE_F64LE, shape), std::span<const double>(values), long_name);
  }
  for (const auto& [name, long_name, member] : flag_variables) {
    const auto flags = column<std::int64_t>(claims, member);
    finish(hdf5::create(group.id(), name, H5T_STD_I8LE, shape), std::span<const std::int64_t>(flags), long_name);
  }
  for (const auto& scale : scales) write_all(scale);
}

}  // namespace

void write_claims(const std::string& path, std::span<const ClaimResult> claims) {
  std::size_t bytes = 0;
  for (const auto& variable : text_variables) {
    bytes += claims.size() * hdf5::width_of(column<std::string>(claims, variable.member));
  }
  bytes += claims.size() * sizeof(double) * (std::size(number_variables) + std::size(flag_variables) + 1);
  alter(path, static_cast<std::int64_t>(bytes), [&](hid_t file) {
    write_group(file, claims);
    const hdf5::Group root(hdf5::check(H5Gopen2(file, "/", H5P_DEFAULT), "opening the root group"));
    hdf5::write_attribute(root.id(), "status", std::string("complete"));
  });
}

std::vector<ClaimResult> read_claims(const ResultReader& file) {
  if (!file.is_group("claims")) return {};
  std::vector<ClaimResult> claims(file.read("claims/claim").values.size());
  const auto fill = [&](const auto& variable, const auto& values) {
    if (values.size() != claims.size()) {
      throw FileError(
          fmt::format("claims/{} of {} does not have one value for each claim", variable.name, file.path()));
    }
    for (std::size_t i = 0; i < claims.size(); ++i) claims[i].*variable.member = values[i];
  };
  const std::string group = "claims/";
  for (const auto& variable : text_variables) fill(variable, file.read_texts(group + variable.name));
  for (const auto& variable : number_variables) {
    if (file.is_variable(group + variable.name)) fill(variable, file.read(group + variable.name).values);
  }
  for (const auto& variable : flag_variables) fill(variable, file.read(group + variable.name).values);
  for (auto& claim : claims) claim.holds = claim.lower <= claim.measured && claim.measured <= claim.upper;
  return claims;
}

}  // namespace bathline
