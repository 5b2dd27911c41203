// Rerunning and comparing, variable by variable.
// Tested by tests/command_line/verify_test.py.
#include "driver/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "driver/prepared_run.hpp"
#include "driver/unpacked_inputs.hpp"
#include "record/claims.hpp"
#include "record/result_integrity.hpp"
#include "record/temporary_file.hpp"

namespace bathline {

namespace {

/// All variables of numbers below `group`, the judged claims left out.
void collect(const ResultReader& file, const std::string& group, std::vector<std::string>& paths) {
  for (const std::string& name : file.names(group.empty() ? "/" : group)) {
    const std::string path = group.empty() ? name : group + "/" + name;
    if (path == "claims") continue;
    if (file.is_group(path)) {
      collect(file, path, paths);
    } else {
      paths.push_back(path);
    }
  }
}

bool is_same(const ResultReader& one, const ResultReader& other, const std::string& path, double& difference) {
  difference = 0.0;
  std::vector<double> first, second;
  try {
    first = one.read(path).values;
    second = other.read(path).values;
  } catch (const FileError&) {
    return one.read_texts(path) == other.read_texts(path);
  }
  if (one.shape(path) != other.shape(path)) {
    difference = std::numeric_limits<double>::infinity();
    return false;
  }
  double largest = 0.0;
  bool same = true;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(first[i]) == std::bit_cast<std::uint64_t>(second[i])) {
      if (std::isfinite(first[i])) largest = std::max(largest, std::abs(first[i]));
      continue;
    }
    if (std::isnan(first[i]) && std::isnan(second[i])) continue;
    same = false;
    largest = std::max({largest, std::abs(first[i]), std::abs(second[i])});
    const double distance = std::abs(first[i] - second[i]);
    difference = std::isnan(distance) ? std::numeric_limits<double>::infinity() : std::max(difference, distance);
  }
  if (largest > 0.0) difference /= largest;
  return same;
}

/// Compares on rank 0 and prints what came of it.
int compare(const std::string& result, const std::string& rerun, bool to_the_bit, double tolerance) {
  const ResultReader one(result), other(rerun);
  std::vector<std::string> paths, others;
  collect(one, "", paths);
  collect(other, "", others);
  std::sort(paths.begin(), paths.end());
  std::sort(others.begin(), others.end());
  if (paths != others) {
    std::vector<std::string> odd;
    std::set_symmetric_difference(paths.begin(), paths.end(), others.begin(), others.end(), std::back_inserter(odd));
    fmt::print("{}: DIFFERS: only one of the two files has {}\n", result, odd.front());
    return exit_code::claim_failed;
  }
  std::size_t equal = 0, beyond = 0;
  double worst = 0.0;
  std::string where;
  for (const std::string& path : paths) {
    double difference = 0.0;
    try {
      if (is_same(one, other, path, difference)) {
        ++equal;
        continue;
      }
    } catch (const FileError& error) {
      ++beyond;
      fmt::print("  {}\n", error.what());
      continue;
    }
    if (to_the_bit || difference > tolerance) {
      ++beyond;
      fmt::print("  {} differs by {:.3e} of its largest value\n", path, difference);
    }
    if (difference >= worst) {
      worst = difference;
      where = path;
    }
  }
  if (beyond > 0) {
    fmt::print("{}: DIFFERS: {} of {} variables, {}\n", result, beyond, paths.size(),
               to_the_bit ? "compared to the bit" : fmt::format("compared to {:g} of their largest value", tolerance));
    return exit_code::claim_failed;
  }
  if (to_the_bit) {
    fmt::print("{}: VERIFIED: all {} variables have the same bits\n", result, paths.size());
  } else if (equal == paths.size()) {
    fmt::print("{}: VERIFIED: all {} variables agree, without any difference\n", result, paths.size());
  } else {
    fmt::print("{}: VERIFIED: all {} variables agree to {:.1e} of their largest value ({})\n", result, paths.size(),
               worst, where);
  }
  return exit_code::complete;
}

}  // namespace

int verify_result(const VerifyRequest& request, const Program& program) {
  const Communicator& communicator = program.communicator();
  std::string recipe, petsc_options, status, differences;
  std::int64_t ranks[] = {0};
  check_on_root(communicator, [&] {
    if (!require_intact(request.result)) spdlog::warn("{}", missing_checksum_text(request.result));
    const ResultReader result(request.result);
    for (const char* name : {"recipe_resolved", "petsc_options", "mpi_ranks"}) {
      if (result.has_attribute(name)) continue;
      throw FileError(fmt::format("{} is no result of bathline: it has no attribute {}", request.result, name));
    }
    recipe = result.attribute("recipe_resolved");
    petsc_options = result.attribute("petsc_options");
    status = result.attribute("status");
    ranks[0] = std::stoll(result.attribute("mpi_ranks"));
    if (status != "complete") {
      throw FileError(
          fmt::format("{} has the status {}; only what is complete can be verified", request.result, status));
    }
    for (const auto& [name, value] : build_attributes()) {
      const std::string there = result.attribute(name);
      if (there != value) differences += fmt::format("\n  {} is {} there, {} here", name, there, value);
    }
  });
  recipe = communicator.broadcast(recipe);
  petsc_options = communicator.broadcast(petsc_options);
  differences = communicator.broadcast(differences);
  communicator.broadcast(std::span<std::int64_t>(ranks));

  bool to_the_bit = differences.empty();
  if (!differences.empty()) {
    spdlog::warn("another build has written {}: comparing to {:g} instead of to the bit{}", request.result,
                 request.tolerance, differences);
  } else if (ranks[0] != communicator.size()) {
    spdlog::warn("{} was computed on {} ranks, not {}: comparing to {:g} instead of to the bit", request.result,
                 ranks[0], communicator.size(), request.tolerance);
    to_the_bit = false;
  }

  RunContext context;
  context.progress = request.progress;
  std::optional<TemporaryFile> scratch;
  if (request.output.empty()) scratch.emplace(request.result, communicator);
  context.path = scratch ? scratch->path() : request.output;
  context.is_scratch = scratch.has_value();
  int code = exit_code::complete;
  {
    std::unique_ptr<UnpackedInputs> folder;
    {
      // Only rank 0 reads the file, but all learn what is wrong with it.
      std::unique_ptr<ResultReader> result;
      check_on_root(communicator, [&] { result = std::make_unique<ResultReader>(request.result); });
      folder = std::make_unique<UnpackedInputs>(result.get(), program);
    }
    const std::vector<std::string> options = options_for(request.petsc_options, petsc_options, request.result);
    const PreparedRun prepared = prepare(recipe, folder->recipe_file(), {}, options, program);
    context.provenance = {.title = prepared.recipe->title,
                          .recipe = recipe,
                          .recipe_resolved = prepared.recipe->resolved,
                          .petsc_version = petsc_version(),
                          .petsc_options = fmt::format("{}", fmt::join(options, " ")),
                          .seed = static_cast<std::int64_t>(prepared.experiment->seed()),
                          .started = utc_now()};
    std::optional<StopSignals> signals;
    if (!scratch) signals.emplace(communicator);
    std::unique_ptr<ResultFile> file;
    try {
      constexpr bool overwrite = false;
      file = create_result(context, prepared, overwrite, communicator);
    } catch (const UsageError& error) {
      if (!scratch) throw;
      throw UsageError(fmt::format("{}; -o says where else the rerun may lie", error.what()));
    }
    code = execute_run(context, prepared, std::move(file), nullptr, communicator);
  }
  if (code != exit_code::complete && code != exit_code::claim_failed) return code;
  return run_on_root(communicator, exit_code::numerical_failure,
                     [&] { return compare(request.result, context.path, to_the_bit, request.tolerance); });
}

}  // namespace bathline
