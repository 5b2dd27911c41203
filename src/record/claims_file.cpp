// Writing the claims and the status `complete` to a result file by one process, and reading claims.
// Tested by tests/record/claims_test.cpp.

#include "parallel/mpi_handle.hpp"
#include "record/claims.hpp"
#include "record/dimension_scale.hpp"

namespace bathline {

namespace {

template <class Value>
struct ClaimVariable {
  const char *name, *long_name;
  Value ClaimResult::*member;
};
constexpr ClaimVariable<std::string> text_variables[] = {
    {"name", "name of the claim", &ClaimResult::name},
    {"quantity", "measured quantity", &ClaimResult::quantity},
    {"source", "source of the claim", &ClaimResult::source},
    {"note", "remark", &ClaimResult::note},
    {"problem", "why the quantity could not be measured, or what is unexpected", &ClaimResult::problem},
};

constexpr ClaimVariable<double> number_variables[] = {
    {"measured", "measured value", &ClaimResult::measured},
    {"expected", "expected value", &ClaimResult::expected},
    {"lower", "lower bound that the claim allows", &ClaimResult::lower},
    {"upper", "upper bound that the claim allows", &ClaimResult::upper},
    {"uncertainty", "derived uncertainty of the claimed value", &ClaimResult::uncertainty},
};

constexpr ClaimVariable<bool> flag_variables[] = {
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

}  // namespace

void write_claims(ResultFile& file, std::span<const ClaimResult> claims) {
  auto bytes = static_cast<std::int64_t>(claims.size() * sizeof(double) *
                                         (std::size(number_variables) + std::size(flag_variables) + 1));
  for (const auto& variable : text_variables) bytes += hdf5::bytes_of(column<std::string>(claims, variable.member));
  file.reserve(bytes);
  file.remove("claims");
  const std::string group = "claims";
  const Dimension claim[] = {counted_dimension("claim", claims.size(), "claim")};
  for (const auto& [name, long_name, member] : text_variables) {
    file.texts(group, name, "claim", column<std::string>(claims, member), long_name);
  }
  for (const auto& [name, long_name, member] : number_variables) {
    file.array(group, {name, "1", long_name, {}}, claim, column<double>(claims, member));
  }
  for (const auto& [name, long_name, member] : flag_variables) {
    file.array(group, {name, "1", long_name, {}, true}, claim, column<double>(claims, member));
  }
  file.attribute("status", std::string("complete"));
}

void write_claims(const std::string& path, std::span<const ClaimResult> claims) {
  ResultFile file(path, this_process());
  write_claims(file, claims);
  file.close();
}

std::vector<ClaimResult> read_claims(const ResultReader& file) {
  if (!file.is_group("claims")) return {};
  std::vector<ClaimResult> claims(file.read("claims/claim").values.size());
  const auto fill = [&](const auto& variable, const auto& values) {
    if (values.size() != claims.size()) {
      throw FileError("claims/{} of {} does not have one value for each claim", variable.name, file.path());
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
