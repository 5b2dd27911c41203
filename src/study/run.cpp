// One run from the recipe's text to the finished result file.
#include "study/run.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/environment_catalogue.hpp"
#include "parallel/shared_file.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "solve/petsc_session.hpp"
#include "solve/solver_error.hpp"
#include "study/experiment.hpp"
#include "study/study.hpp"
#include "study/vocabulary.hpp"

namespace bathline {

namespace {

/// The text of a file, read by rank 0.
std::string read_text(const std::string& path, const Communicator& communicator) {
  std::string text, error;
  if (communicator.is_root()) {
    std::error_code ignored;
    std::ifstream file(path, std::ios::binary);
    if (std::filesystem::is_directory(path, ignored)) {
      error = fmt::format("{} is a directory; a recipe is a .toml file", path);
    } else if (!file) {
      error = fmt::format("cannot read the recipe {}: {}", path, std::generic_category().message(errno));
    } else {
      std::ostringstream all;
      all << file.rdbuf();
      text = all.str();
    }
  }
  error = communicator.broadcast(error);
  if (!error.empty()) throw UsageError(error);
  return communicator.broadcast(text);
}

[[noreturn]] void refuse(const Mistakes& mistakes) { throw UsageError(mistakes.report()); }

/// Claims must name a group that this recipe will write.
void check_claims(const Recipe& recipe, Mistakes& mistakes) {
  std::string known;
  std::set<std::string> groups;
  const auto add_group = [&](const Section& section, const std::string& key) {
    return where_readable([&] {
      groups.insert(section.text(key));
      known += (known.empty() ? "" : ", ") + section.text(key);
    });
  };
  bool all_are_known = true;
  for (const Section& integrator : recipe.integrators) all_are_known &= add_group(integrator, "label");
  all_are_known &= add_group(recipe.study, "kind");
  all_are_known &= where_readable([&] {
    if (recipe.study.has("memory") && recipe.study.boolean("memory")) groups.insert("memory");
  });
  const auto check = [&](const Section& claim, const std::string& key) {
    if (!claim.has(key)) return;
    const std::string& quantity = claim.text(key);
    ParsedQuantity parsed;
    std::string why;
    const std::string group = quantity.substr(0, quantity.find_first_of(".["));
    if (!parse_quantity(quantity, parsed, why)) {
      mistakes.add(claim.where(key), fmt::format("`{}` is no quantity: {}", quantity, why));
    } else if (all_are_known && groups.count(group) == 0) {
      mistakes.add(claim.where(key),
                   fmt::format("`{}` begins with neither a label of this recipe nor its study: {}", quantity, known));
    }
  };
  for (const Section& claim : recipe.claims) {
    for (const char* key : {"quantity", "minus", "over"}) where_readable([&] { check(claim, key); });
  }
}

/// A validated recipe with all that it leads to. The solvers of every case are set up once for PETSc to see its
/// options, so that a bad one ends the run before anything is written.
struct Prepared {
  Recipe recipe;
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<PetscSession> petsc;
  const StudyKind* study = nullptr;
};

/// PETSc's options are words that begin with a dash, each with at most one value behind it.
void check_option_words(const std::vector<std::string>& words) {
  bool takes_value = false;
  for (const std::string& word : words) {
    const bool is_option = word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
    if (!is_option && !takes_value) {
      throw UsageError(
          fmt::format("`{}` behind `--` belongs to no option; PETSc's options look like -ksp_type cg", word));
    }
    takes_value = is_option;
  }
}

Prepared prepare(const RunRequest& request, const Communicator& communicator) {
  Prepared prepared;
  Mistakes mistakes;
  prepared.recipe =
      parse_recipe(read_text(request.recipe, communicator), request.recipe, request.settings, vocabulary(), mistakes);
  if (!prepared.recipe.is_toml) refuse(mistakes);
  check_option_words(request.petsc_options);
  prepared.petsc = std::make_unique<PetscSession>(communicator, request.petsc_options);
  prepared.experiment = std::make_unique<Experiment>(prepared.recipe, communicator, mistakes);
  where_readable([&] {
    prepared.study = find_study(prepared.recipe.study.text("kind"));
    prepared.study->check(*prepared.experiment, mistakes);
  });
  check_claims(prepared.recipe, mistakes);
  if (!mistakes.empty()) refuse(mistakes);
  std::vector<std::string> unknown_options;
  std::string unknown;
  try {
    for (const Case& one : prepared.experiment->cases()) {
      Problem problem = prepared.experiment->make_problem(one);
      make_stepper(one.scheme, problem, one.step);
    }
    unknown_options = prepared.petsc->unknown_options();
  } catch (const SolverError& error) {
    throw UsageError(fmt::format("these solver options do not work: {}", error.what()));
  }
  for (const std::string& option : unknown_options) {
    unknown += fmt::format("{}`{}`", unknown.empty() ? "" : ", ", option);
  }
  if (!unknown.empty()) {
    throw UsageError(
        fmt::format("PETSc knows no option {}; the solvers of this run print theirs with `-- -help`", unknown));
  }
  for (const std::string& warning : prepared.experiment->warnings()) spdlog::warn("{}", warning);
  return prepared;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Keeps the files that environments were read from, so that the result can be had again from itself alone.
void write_input_files(ResultFile& file, const Recipe& recipe, const Communicator& communicator) {
  for (const Section& environment : recipe.environments) {
    if (!environment.has("file")) continue;
    const std::optional<std::string> text = read_shared_file(path_beside_recipe(environment, "file"), communicator);
    if (text) file.attribute("input_file:" + environment.text("file"), *text);
  }
}

/// Evaluates the claims of a closed file, on rank 0. Returns whether all passed.
bool settle_claims(const std::string& path, const Recipe& recipe) {
  std::vector<ClaimResult> claims;
  {
    const ResultReader reader(path);
    claims = evaluate_claims(reader, recipe.claims);
  }
  write_claims(path, claims);
  if (!claims.empty()) fmt::print("{}", claims_table(claims));
  for (const ClaimResult& claim : claims) {
    if (!claim.passed) return false;
  }
  return true;
}

}  // namespace

void check_recipe(const RunRequest& request, const Communicator& communicator) {
  const Prepared prepared = prepare(request, communicator);
  if (communicator.is_root()) fmt::print("{}: valid; {}\n", request.recipe, prepared.recipe.title);
  for (const Case& one : prepared.experiment->cases()) {
    std::int64_t sites = 0;
    std::string closures;
    const Problem problem = prepared.experiment->make_problem(one);
    for (const auto& environment : problem.environments()) {
      sites += environment->sites();
      closures += (closures.empty() ? "" : ", ") + environment->name();
    }
    if (!communicator.is_root()) continue;
    fmt::print("  {:<24} {} on the {} system, {} steps of {}{}\n", one.label, one.method->entry.name,
               one.closed ? "closed" : "open", one.steps, one.step,
               one.closed ? fmt::format(", {} sites ({})", sites, closures) : "");
  }
}

int run_recipe(const RunRequest& request, const Communicator& communicator) {
  const auto started = std::chrono::steady_clock::now();
  const std::string started_text = utc_now();
  const Prepared prepared = prepare(request, communicator);
  const std::string path =
      request.output.empty() ? std::filesystem::path(request.recipe).stem().string() + ".h5" : request.output;

  std::optional<CaseFailure> failure;
  {
    std::unique_ptr<ResultFile> file;
    try {
      file = std::make_unique<ResultFile>(path, communicator, request.overwrite);
    } catch (const FileError& error) {
      throw UsageError(error.what());
    }
    write_provenance(*file, communicator,
                     {.title = prepared.recipe.title,
                      .recipe = prepared.recipe.text,
                      .recipe_resolved = prepared.recipe.resolved,
                      .petsc_version = petsc_version(),
                      .petsc_options = joined(request.petsc_options),
                      .seed = prepared.recipe.output.integer("seed"),
                      .started = started_text});
    write_input_files(*file, prepared.recipe, communicator);
    std::string warnings;
    for (const std::string& warning : prepared.experiment->warnings()) warnings += warning + "\n";
    file->attribute("warnings", warnings);
    file->flush();
    Progress progress(request.progress, communicator.is_root());
    failure = prepared.study->make(*prepared.experiment)->run(*file, progress);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (failure) {
      file->attribute("failure",
                      fmt::format("{}: step {}: {}", failure->label, failure->failure.step, failure->failure.reason));
    }
    update_provenance(*file, failure ? "failed" : "complete", wall);
    file->close();
  }
  if (failure) {
    spdlog::error("{}: step {} failed: {}; what was computed until then is in {}", failure->label,
                  failure->failure.step, failure->failure.reason, path);
    return exit_code::numerical_failure;
  }
  return run_on_root(communicator, exit_code::numerical_failure, [&] {
    return settle_claims(path, prepared.recipe) ? exit_code::complete : exit_code::claim_failed;
  });
}

int run_on_root(const Communicator& communicator, int failure_code, const std::function<int()>& work) {
  std::int64_t code[] = {0};
  if (communicator.is_root()) {
    try {
      code[0] = work();
    } catch (const std::exception& error) {
      spdlog::error("{}", error.what());
      code[0] = failure_code;
    }
  }
  communicator.broadcast(std::span<std::int64_t>(code));
  return static_cast<int>(code[0]);
}

}  // namespace bathline
