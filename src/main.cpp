// The command line of bathline.
#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>

#include "driver/launch.hpp"
#include "driver/recipe_library.hpp"
#include "driver/run.hpp"
#include "driver/sweep_run.hpp"
#include "driver/verify.hpp"
#include "driver/vocabulary.hpp"
#include "parallel/communicator.hpp"
#include "recipe/recipe_schema.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "record/result_check.hpp"
#include "solve/petsc_options.hpp"
#include "solve/petsc_session.hpp"

namespace {

using namespace bathline;

struct Category {
  const char* plural;
  const char* singular;
  std::vector<Entry> Vocabulary::*entries;
};

constexpr Category categories[] = {{"systems", "system", &Vocabulary::systems},
                                   {"potentials", "potential", &Vocabulary::potentials},
                                   {"environments", "environment", &Vocabulary::environments},
                                   {"integrators", "integrator", &Vocabulary::integrators},
                                   {"studies", "study", &Vocabulary::studies}};

std::string list(const std::string& what) {
  std::string text;
  for (const Category& category : categories) {
    if (!what.empty() && what != category.plural) continue;
    if (what.empty()) text += fmt::format("{}\n", category.plural);
    for (const Entry& entry : vocabulary().*category.entries) {
      text += fmt::format("{}{:<22} {}\n", what.empty() ? "  " : "", entry.name, entry.summary);
    }
  }
  if (what.empty() || what == "recipes") {
    if (what.empty()) text += "recipes\n";
    for (const LibraryRecipe& recipe : library_recipes()) {
      text += fmt::format("{}{:<22} {}\n", what.empty() ? "  " : "", recipe.name, recipe.title);
    }
  }
  return text;
}

std::string describe_name(const std::string& name, const Communicator& world) {
  if (name == "recipe") return describe_recipe();
  std::vector<std::string> known = {"recipe"};
  for (const Category& category : categories) {
    const std::vector<Entry>& entries = vocabulary().*category.entries;
    if (const Entry* entry = find_entry(entries, name)) return describe(*entry, category.singular);
    for (const Entry& entry : entries) known.push_back(entry.name);
  }
  std::error_code ignored;
  bool is_recipe = std::filesystem::is_regular_file(name, ignored);
  for (const LibraryRecipe& recipe : library_recipes()) {
    is_recipe = is_recipe || recipe.name == name;
    known.push_back(recipe.name);
  }
  if (world.broadcast(is_recipe)) return describe_recipe(name, world);
  const std::string close = closest_name(name, known);
  throw UsageError(
      fmt::format("there is nothing called `{}`; {}", name,
                  close.empty() ? "`bathline list` shows all names" : fmt::format("did you mean `{}`?", close)));
}

int show_claims(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) throw UsageError(fmt::format("there is no file {}", path));
  if (!require_undamaged(path)) spdlog::warn("{}", words_on_missing_seal(path));
  const ResultReader reader(path);
  std::vector<ClaimResult> claims = read_claims(reader);
  const bool has_claims = reader.attribute("recipe_resolved").find("[[claims]]") != std::string::npos;
  if (claims.empty() && has_claims) {
    const std::string status = reader.attribute("status");
    if (status != "complete" && status != "computed") {
      throw UsageError(fmt::format("{} is not complete (status {}), so its claims have not been judged", path, status));
    }
    claims = evaluate_claims(reader, recipe_of(reader).claims);
  }
  fmt::print("{}", claims.empty() ? fmt::format("{} makes no claims\n", path) : claims_table(claims));
  return exit_code_of(claims);
}

/// Every message as one JSON object a line: time, level, message.
class JsonLines final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JsonLines(const std::string& path) : file_(path, std::ios::app) {
    if (!file_)
      throw UsageError(fmt::format("cannot write the log {}: {}", path, std::generic_category().message(errno)));
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string text;
    for (const char c : std::string_view(message.payload.data(), message.payload.size())) {
      if (c == '"' || c == '\\') {
        text += '\\';
        text += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        text += fmt::format("\\u{:04x}", static_cast<int>(c));
      } else {
        text += c;
      }
    }
    const auto level = spdlog::level::to_string_view(message.level);
    file_ << fmt::format("{{\"time\": \"{}\", \"level\": \"{}\", \"message\": \"{}\"}}\n", utc_now(),
                         std::string_view(level.data(), level.size()), text);
  }
  void flush_() override { file_.flush(); }

 private:
  std::ofstream file_;
};

/// Adds the log of JSON lines to the one on standard error, which does not get the messages of the level `info`.
void log_to(const std::string& path, const Communicator& world) {
  std::shared_ptr<JsonLines> lines;
  std::string reason;
  if (world.is_root()) {
    try {
      lines = std::make_shared<JsonLines>(path);
    } catch (const UsageError& error) {
      reason = error.what();
    }
  }
  reason = world.broadcast(reason);
  if (!reason.empty()) throw UsageError(reason);
  if (!lines) return;
  const auto log = spdlog::default_logger();
  for (const auto& sink : log->sinks()) sink->set_level(spdlog::level::warn);
  log->sinks().push_back(lines);
  log->flush_on(spdlog::level::trace);
}

/// The arguments before `--` and those behind it, if there is one, which are PETSc's.
std::pair<std::vector<std::string>, std::optional<std::vector<std::string>>> split_arguments(int argc, char** argv) {
  const std::vector<std::string> all(argv + 1, argv + argc);
  const auto separator = std::find(all.begin(), all.end(), "--");
  if (separator == all.end()) return {all, std::nullopt};
  return {{all.begin(), separator}, std::vector<std::string>(separator + 1, all.end())};
}

int run_command_line(int argc, char** argv, const Communicator& world) {
  auto [arguments, petsc_options] = split_arguments(argc, argv);
  CLI::App app(
      "Dissipative mechanics computed as closed conservative systems.\n"
      "Describe particles and an environment in a recipe, run it, read the HDF5 result.",
      "bathline");
  app.require_subcommand(1);
  app.set_version_flag(
      "--version",
      [] {
        return version_text(petsc_version(),
                            fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION));
      },
      "Versions of the program and of its libraries");
  app.footer(
      "PETSc's options follow `--`, as in: mpirun -n 4 bathline run r.toml -- -ksp_type cg -log_view\n"
      "Exit codes: 0 complete, 1 a claim failed, 2 usage or recipe error, 3 numerical failure,\n"
      "85 stopped on request with a checkpoint.");

  RunRequest request;
  std::string name, what, file;
  // Messages are lines, and so are lists of paths.
  const CLI::Validator on_one_line(
      [](const std::string& path) {
        return path.find_first_of("\n\r") == std::string::npos ? "" : "a name must not hold line ends";
      },
      "");
  const auto add_recipe = [&](CLI::App* command) {
    command->add_option("RECIPE", request.recipe, "recipe (TOML), or the name of one that `list recipes` shows")
        ->required()
        ->check(on_one_line);
    command
        ->add_option("--set", request.settings,
                     "KEY=VALUE: replaces a key of the recipe, such as time.step=0.005 or environment.0.sites=1000")
        ->expected(1)
        ->take_all()
        ->type_name("KEY=VALUE");
  };
  CLI::App* run = app.add_subcommand("run", "run a recipe");
  add_recipe(run);
  run->add_option("-o,--output", request.output,
                  "result file; default: the recipe's name with .h5 in the working directory")
      ->check(on_one_line)
      ->type_name("FILE.h5");
  run->add_flag("--overwrite", request.overwrite, "replace an existing result file and its checkpoints");
  double wall_time = 0.0;
  const auto add_wall_time = [&](CLI::App* command) {
    command
        ->add_option("--wall-time", wall_time,
                     "stop with a checkpoint (exit code 85) shortly before so many seconds have gone by")
        ->envname("BATHLINE_WALL_TIME")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
  };
  add_wall_time(run);
  std::string json;
  const auto add_log = [&](CLI::App* command) {
    command->add_option("--log-json", json, "append the messages to this file as well, one JSON object a line")
        ->check(on_one_line)
        ->type_name("FILE");
  };
  add_log(run);
  const std::map<std::string, ProgressStyle> styles = {{"auto", ProgressStyle::automatic},
                                                       {"bar", ProgressStyle::bar},
                                                       {"lines", ProgressStyle::lines},
                                                       {"none", ProgressStyle::none}};
  std::string style = "auto";
  const auto add_progress = [&](CLI::App* command) {
    command->add_option("--progress", style, "how far the run has come: auto, bar, lines or none")
        ->check(CLI::IsMember({"auto", "bar", "lines", "none"}))
        ->type_name("STYLE");
  };
  add_progress(run);
  ResumeRequest resumption;
  CLI::App* resume = app.add_subcommand("resume", "go on with a run from a checkpoint");
  resume
      ->add_option("CHECKPOINT", resumption.checkpoint,
                   "checkpoint (HDF5), or a result file: then the newest of its checkpoints that is not damaged")
      ->check(on_one_line)
      ->required();
  resume->add_option("-o,--output", resumption.output, "result file, where it is no longer beside the checkpoint")
      ->check(on_one_line)
      ->type_name("FILE.h5");
  resume->add_option("--recipe", resumption.recipe, "refuse a checkpoint of another recipe than this one, path or name")
      ->check(on_one_line)
      ->type_name("RECIPE");
  resume->add_option("--set", resumption.settings, "KEY=VALUE: a setting of that recipe")
      ->expected(1)
      ->take_all()
      ->type_name("KEY=VALUE");
  resume->add_flag("--any-build", resumption.any_build, "go on with a checkpoint of another build of the program");
  add_progress(resume);
  add_log(resume);
  add_wall_time(resume);
  run->add_option("--element", request.element, "run this element of the recipe's sweep alone, counted from 0")
      ->type_name("N");
  CLI::App* sweep = app.add_subcommand("sweep", "list the elements of a recipe's sweep");
  add_recipe(sweep);
  sweep->add_option("-o,--output", request.output, "as for `run`: what the result files are named after")
      ->check(on_one_line)
      ->type_name("FILE.h5");
  bool count_only = false;
  sweep->add_flag("--count", count_only, "print only how many there are");
  VerifyRequest verification;
  CLI::App* verify = app.add_subcommand("verify", "compute a result again from what it holds, and compare");
  verify->add_option("FILE", verification.result, "result file (HDF5)")->required()->check(on_one_line);
  verify
      ->add_option("-o,--output", verification.output,
                   "keep the rerun here; default: beside the result, removed at the end")
      ->check(on_one_line)
      ->type_name("FILE.h5");
  verify
      ->add_option("--tolerance", verification.tolerance,
                   "largest difference where bits need not agree, relative to a variable's largest value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_progress(verify);
  CLI::App* check = app.add_subcommand("check", "validate a recipe without running it");
  add_recipe(check);
  CLI::App* list_command = app.add_subcommand("list", "list what recipes can name, and the recipes that come along");
  list_command->add_option("WHAT", what, "only these")
      ->check(CLI::IsMember({"systems", "potentials", "environments", "integrators", "studies", "recipes"}));
  CLI::App* describe_command = app.add_subcommand(
      "describe",
      "equation, parameters, units and source of a name; what a recipe does and claims; `recipe` for a recipe's keys");
  describe_command->add_option("NAME", name)->required();
  CLI::App* claims = app.add_subcommand("claims", "the claims of a result file");
  claims->add_option("FILE", file, "result file (HDF5)")->required()->check(on_one_line);

  const std::vector<std::string> all_arguments = arguments;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    const int code = world.is_root() ? app.exit(error) : error.get_exit_code();
    return code == 0 ? exit_code::complete : exit_code::usage;
  }
  if (petsc_options) {
    if (!run->parsed() && !check->parsed() && !resume->parsed() && !verify->parsed()) {
      throw UsageError("options behind `--` belong to `run`, `check`, `resume` and `verify`");
    }
    petsc_options = user_options(*petsc_options, world);
    request.petsc_options = *petsc_options;
    resumption.petsc_options = verification.petsc_options = petsc_options;
  }
  request.progress = styles.at(style);
  if (!request.recipe.empty()) request.recipe = find_recipe(request.recipe, world);
  if (!resumption.recipe.empty()) resumption.recipe = find_recipe(resumption.recipe, world);
  if (!json.empty()) log_to(json, world);
  request.wall_time = resumption.wall_time = wall_time;
  resumption.progress = request.progress;
  const auto logged = [](const std::string& what, int code) {
    spdlog::get("bathline")->info("{} ended with exit code {}", what, code);
    return code;
  };
  if (!json.empty()) spdlog::info("bathline {}", fmt::join(all_arguments, " "));
  if (run->parsed()) return json.empty() ? run_all(request, world) : logged("run", run_all(request, world));
  if (sweep->parsed()) {
    list_sweep(request, count_only, world);
    return exit_code::complete;
  }
  if (verify->parsed()) {
    verification.progress = request.progress;
    return verify_result(verification, world);
  }
  if (resume->parsed()) {
    if (!resumption.settings.empty() && resumption.recipe.empty()) {
      throw UsageError("--set belongs to --recipe: a run goes on with the recipe that is in its checkpoint");
    }
    return json.empty() ? resume_run(resumption, world) : logged("resume", resume_run(resumption, world));
  }
  if (check->parsed()) {
    check_all(request, world);
    return exit_code::complete;
  }
  if (claims->parsed()) {
    return run_on_root(world, exit_code::usage, [&] { return show_claims(file); });
  }
  const std::string text = list_command->parsed() ? list(what) : describe_name(name, world);
  if (world.is_root()) fmt::print("{}", text);
  return exit_code::complete;
}

}  // namespace

int main(int argc, char** argv) {
  // A file that may not become longer is a full disk, which is said, and not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  ParallelSession session(argc, argv);
  const Communicator& world = session.world();
  auto log = spdlog::stderr_color_mt("bathline");
  log->set_pattern("%^%l%$: %v");
  if (!world.is_root()) log->set_level(spdlog::level::off);
  spdlog::set_default_logger(log);
  try {
    return run_command_line(argc, argv, world);
  } catch (const UsageError& error) {
    // Thrown on every rank alike; rank 0 speaks.
    spdlog::error("{}", error.what());
    return exit_code::usage;
  } catch (const FileError& error) {
    spdlog::error("{}", error.what());
    return exit_code::numerical_failure;
  } catch (const OutOfMemory& error) {
    // The other ranks may wait for this one: all end. So below.
    fmt::print(stderr, "bathline: rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "bathline: rank {}: the memory does not suffice for this recipe; nothing was computed\n",
               world.rank());
    session.abort(exit_code::usage);
  } catch (const std::exception& error) {
    // A failure that the other ranks may not know of: end all of them rather than let them wait.
    fmt::print(stderr, "bathline: internal error on rank {}: {}\n", world.rank(), error.what());
    session.abort(exit_code::numerical_failure);
  }
}
