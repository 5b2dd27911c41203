// The command line of bathline.
// Tested by tests/command_line/commands_test.py.
#include "command_line/command_line.hpp"

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "command_line/commands.hpp"
#include "driver/checkpoints.hpp"
#include "driver/convert.hpp"
#include "driver/prepared_run.hpp"
#include "driver/recipe_library.hpp"
#include "driver/run.hpp"
#include "record/claims.hpp"
#include "record/provenance.hpp"
#include "text/printable_text.hpp"
#include "recipe/settings.hpp"
#include "text/spelling.hpp"
#include "record/checksum.hpp"
#include "solve/petsc_options.hpp"
#include "solve/petsc_session.hpp"

namespace bathline {

namespace {

int show_claims(const std::string& path, const Program& program) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw UsageError(fmt::format("there is no file {}", path));
  if (!std::filesystem::is_regular_file(path, ignored)) throw UsageError(path + " is not a regular file");
  if (!require_intact(path)) spdlog::warn("{}", missing_checksum_text(path));
  const ResultReader reader(path);
  std::vector<ClaimResult> claims = read_claims(reader);
  const bool has_claims = reader.attribute("recipe_resolved").find("[[claims]]") != std::string::npos;
  if (claims.empty() && has_claims) {
    const std::string status = reader.attribute("status");
    if (status != "complete" && status != "computed") {
      throw UsageError(
          fmt::format("{} is not complete (status {}), so its claims have not been evaluated", path, status));
    }
    claims = evaluate_claims(reader, recipe_of(reader, program).claims);
  }
  fmt::print("{}", claims.empty() ? fmt::format("{} makes no claims\n", path) : claims_table(claims));
  return exit_code_of(claims);
}

/// The arguments before `--`, and those after it, if there is one, which are PETSc's.
std::pair<std::vector<std::string>, std::optional<std::vector<std::string>>> split_arguments(
    const std::vector<std::string>& arguments) {
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  if (separator == arguments.end()) return {arguments, std::nullopt};
  return {{arguments.begin(), separator}, std::vector<std::string>(separator + 1, arguments.end())};
}

/// The elements of "7" or "10..19"; nothing for any other text.
std::optional<ElementRange> element_range(const std::string& text) {
  ElementRange range;
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots), last = dots == std::string::npos ? first : text.substr(dots + 2);
  const auto is_number = [](const std::string& digits, std::int64_t& number) {
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && rest == digits.data() + digits.size() && number >= 0;
  };
  if (!is_number(first, range.first) || !is_number(last, range.last) || range.last < range.first) return std::nullopt;
  return range;
}

/// The commands, their options and the parsed values.
class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag(
        "--version",
        [] {
          return version_text(petsc_version(),
                              fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION));
        },
        "print the versions of the program and its libraries");
    app_.footer(
        "PETSc's options follow `--`, as in: mpirun -n 4 bathline run r.toml -- -ksp_type cg -log_view\n"
        "Exit codes: 0 complete, 1 a claim failed, 2 usage or recipe error, 3 numerical failure,\n"
        "85 stopped on request with a checkpoint.");
    add_run();
    add_resume();
    add_sweep();
    add_verify();
    add_convert();
    add_import();
    add_rest();
  }

  /// @note Collective.
  int run(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe, const Program& program);

 private:
  void add_run();
  void add_resume();
  void add_sweep();
  void add_verify();
  void add_convert();
  void add_import();
  /// The remaining commands, which run nothing.
  void add_rest();
  /// Adds RECIPE with --set and --unset, and returns the option RECIPE.
  CLI::Option* add_recipe(CLI::App* command);
  /// Adds --set and --unset, whose values go to `settings`.
  void add_settings(CLI::App* command, std::vector<std::string>& settings, const std::string& set,
                    const std::string& unset);
  void add_output(CLI::App* command, std::string& output, const std::string& text);
  void add_progress(CLI::App* command);
  void add_wall_time(CLI::App* command);
  void add_end_of_input(CLI::App* command);
  void add_log(CLI::App* command);
  /// Copies the options that several commands share into their requests, and finds recipes by name. @note Collective.
  void fill_requests(std::optional<std::vector<std::string>> petsc_options, const Communicator& world);
  int execute_run(const Program& program);
  /// The message for arguments that begin with an unknown command or contain an unknown option; empty for other errors.
  std::string unknown_word_message(const std::vector<std::string>& arguments) const;
  /// The manual page, the completion script or the catalogues as JSON.
  std::string generated(const Program& program) const;

  // Messages and lists of paths have one line per path.
  const CLI::Validator on_one_line_{
      [](const std::string& path) {
        return path.find_first_of("\n\r") == std::string::npos ? "" : "a name must not hold line ends";
      },
      ""};
  CLI::App app_{
      "Dissipative mechanics computed as closed conservative systems.\n"
      "Describe particles and an environment in a recipe, run it, read the HDF5 result.",
      "bathline"};
  CLI::App *run_ = nullptr, *resume_ = nullptr, *sweep_ = nullptr, *verify_ = nullptr, *check_ = nullptr,
           *resolve_ = nullptr, *list_ = nullptr, *describe_ = nullptr, *claims_ = nullptr, *plot_ = nullptr,
           *cite_ = nullptr, *generate_ = nullptr, *convert_ = nullptr, *import_ = nullptr, *serve_ = nullptr;
  RunRequest request_;
  ResumeRequest resumption_;
  VerifyRequest verification_;
  ConvertRequest conversion_;
  ImportRequest import_request_;
  PlotRequest plot_request_;
  std::string name_, what_, file_, json_, style_ = "auto";
  double wall_time_ = 0.0;
  std::size_t element_ = 0;
  SweepFormat sweep_format_ = SweepFormat::table;
  bool stops_at_end_of_input_ = false;
};

CLI::Option* CommandLine::add_recipe(CLI::App* command) {
  CLI::Option* recipe = command
                            ->add_option("RECIPE", request_.recipe,
                                         "recipe file (TOML), or the name of a recipe in `bathline list recipes`")
                            ->required()
                            ->check(on_one_line_);
  add_settings(command, request_.settings,
               "KEY=VALUE: replace a key of the recipe, such as time.step=0.005, environments.0.sites=1000 or "
               "integrators.closed.method=gauss",
               "remove a key of the recipe, such as integrators.closed.gamma");
  return recipe;
}

void CommandLine::add_settings(CLI::App* command, std::vector<std::string>& settings, const std::string& set,
                               const std::string& unset) {
  // Each option takes one value, so that RECIPE may follow.
  command->add_option("--set", settings, set)->allow_extra_args(false)->take_all()->type_name("KEY=VALUE");
  command
      ->add_option_function<std::vector<std::string>>(
          "--unset",
          [&settings](const std::vector<std::string>& keys) {
            for (const std::string& key : keys) settings.push_back(unset_mark + key);
          },
          unset)
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("KEY");
}

void CommandLine::add_output(CLI::App* command, std::string& output, const std::string& text) {
  command->add_option("-o,--output", output, text)->check(on_one_line_)->type_name("FILE.h5");
}

void CommandLine::add_wall_time(CLI::App* command) {
  command
      ->add_option("--wall-time", wall_time_,
                   "stop with a checkpoint (exit code 85) shortly before this wall-clock time")
      ->envname("BATHLINE_WALL_TIME")
      ->check(CLI::Validator(
          [](const std::string& text) {
            double seconds = 0.0;
            const bool is_good = CLI::detail::lexical_cast(text, seconds) && seconds > 0.0;
            return is_good ? ""
                           : fmt::format("{} is not a positive number of seconds (--wall-time or BATHLINE_WALL_TIME)",
                                         text);
          },
          ""))
      ->type_name("SECONDS");
}

void CommandLine::add_end_of_input(CLI::App* command) {
  command->add_flag("--stop-at-end-of-input", stops_at_end_of_input_,
                    "stop with a checkpoint (exit code 85) when standard input ends, as a pipe does with the process "
                    "that holds its other end");
}

void CommandLine::add_log(CLI::App* command) {
  command->add_option("--log-json", json_, "append all messages to this file, one JSON object per line")
      ->check(on_one_line_)
      ->type_name("FILE");
}

void CommandLine::add_progress(CLI::App* command) {
  command->add_option("--progress", style_, "progress display: auto, bar, lines or none")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}))
      ->type_name("STYLE");
}

void CommandLine::add_run() {
  run_ = app_.add_subcommand("run", "run a recipe");
  add_recipe(run_);
  add_output(run_, request_.output, "result file; default: the recipe's name with .h5 in the working directory");
  run_->add_flag("--overwrite", request_.overwrite, "replace an existing result file and its checkpoints");
  add_wall_time(run_);
  add_end_of_input(run_);
  add_log(run_);
  add_progress(run_);
  run_->add_option_function<std::string>(
          "--elements,--element", [this](const std::string& text) { request_.elements = element_range(text); },
          "run only this element of the recipe's sweep, counted from 0, or those from the first to the last: 10..19")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return element_range(text) ? ""
                                       : fmt::format("{} is not the number of an element, or two as in 10..19", text);
          },
          ""))
      ->type_name("N");
}

void CommandLine::add_resume() {
  resume_ = app_.add_subcommand("resume", "resume a run from a checkpoint");
  resume_
      ->add_option("CHECKPOINT", resumption_.checkpoint,
                   "checkpoint (HDF5), or a result file, whose newest intact checkpoint is used")
      ->check(on_one_line_)
      ->required();
  add_output(resume_, resumption_.output, "result file, if it is not beside the checkpoint");
  resume_
      ->add_option("--recipe", resumption_.recipe, "require that the checkpoint belongs to this recipe (path or name)")
      ->check(on_one_line_)
      ->type_name("RECIPE");
  add_settings(resume_, resumption_.settings, "KEY=VALUE: a setting of that recipe",
               "a key that was removed from that recipe");
  resume_->add_flag("--any-build", resumption_.any_build, "accept a checkpoint of another build of the program");
  add_progress(resume_);
  add_log(resume_);
  add_wall_time(resume_);
  add_end_of_input(resume_);
}

void CommandLine::add_sweep() {
  sweep_ = app_.add_subcommand("sweep", "list the elements of a recipe's sweep");
  add_recipe(sweep_);
  add_output(sweep_, request_.output, "as for `run`: the name from which those of the result files are derived");
  auto* count = sweep_->add_flag_callback(
      "--count", [this] { sweep_format_ = SweepFormat::count; }, "print only the number of elements");
  sweep_
      ->add_flag_callback(
          "--json", [this] { sweep_format_ = SweepFormat::json; }, "print a list of objects in JSON")
      ->excludes(count);
}

void CommandLine::add_verify() {
  verify_ = app_.add_subcommand("verify", "run the recipe of a result again and compare");
  verify_->add_option("FILE", verification_.result, "result file (HDF5)")->required()->check(on_one_line_);
  add_output(verify_, verification_.output, "keep the rerun in this file; default: a temporary file beside the result");
  verify_
      ->add_option("--tolerance", verification_.tolerance,
                   "for results of other builds or rank counts, relative to a variable's largest value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_progress(verify_);
}

void CommandLine::add_convert() {
  convert_ = app_.add_subcommand("convert", "write a recipe with an environment replaced by an equivalent one");
  add_recipe(convert_);
  convert_->add_option("--environment", conversion_.environment, "name of the environment")
      ->required()
      ->type_name("NAME");
  convert_
      ->add_option("--to", conversion_.to,
                   "star: a bath of independent oscillators; chain: a line of nonuniform masses and springs; "
                   "exponentials: a memory kernel as a sum of exponentials (Prony series)")
      ->required()
      ->check(CLI::IsMember({"star", "chain", "exponentials"}))
      ->type_name("KIND");
  convert_
      ->add_option("-o,--output", conversion_.output,
                   "recipe to write, with its table beside it; default: RECIPE-NAME-TO.toml beside the recipe")
      ->check(on_one_line_)
      ->type_name("FILE.toml");
  convert_->add_flag("--overwrite", conversion_.overwrite, "replace existing files");
}

void CommandLine::add_import() {
  BathSource& source = import_request_.source;
  import_ = app_.add_subcommand("import", "write the environments of a bath that another program describes");
  import_->add_option("FILE", source.file, "file of the other program")->check(on_one_line_);
  import_->add_option("--from", source.format, "format of the file, or convention of the numbers")
      ->required()
      ->check(CLI::IsMember(bath_format_names()))
      ->type_name("FORMAT");
  for (const BathOption& option : bath_options()) {
    import_
        ->add_option_function<std::vector<double>>(
            std::string("--") + option.name,
            [&source, &option](const std::vector<double>& numbers) { source.numbers[option.name] = numbers; },
            option.doc)
        ->expected(option.count)
        ->type_name(option.count > 1 ? "NUMBERS" : "NUMBER");
  }
  const auto add_word = [this, &source](const std::string& name, const char* doc) {
    return import_->add_option_function<std::string>(
        "--" + name, [&source, name](const std::string& word) { source.words[name] = word; }, doc);
  };
  add_word("cutoff-type", "of --power-law: exponential, the default, gaussian or hard")
      ->check(CLI::IsMember({"exponential", "gaussian", "hard"}))
      ->type_name("TYPE");
  add_word("time-unit",
           "unit of time of the file: s, ms, us, ns, ps, fs or atomic for a recipe in seconds, or a number")
      ->type_name("UNIT");
  import_->add_option("--kT", source.kT, "kT of the bath (J)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("KT");
  import_
      ->add_option("-o,--output", import_request_.output,
                   "file to write, with its table beside it; default: standard output")
      ->check(on_one_line_)
      ->type_name("FILE.toml");
  import_->add_flag("--overwrite", import_request_.overwrite, "replace existing files");
  import_->footer("Formats:\n" + bath_format_table());
}

void CommandLine::add_rest() {
  check_ = app_.add_subcommand("check", "validate a recipe without running it");
  add_recipe(check_);
  resolve_ = app_.add_subcommand("resolve", "print a recipe with its defaults, and without `extends` and sweep");
  add_recipe(resolve_);
  resolve_->add_option("--element", element_, "element of the recipe's sweep, counted from 0; default: 0")
      ->type_name("N");
  list_ = app_.add_subcommand("list", "list everything that recipes can name, and the installed recipes");
  list_->add_option("WHAT", what_, "list only this kind")
      ->check(CLI::IsMember({"systems", "potentials", "environments", "integrators", "studies", "recipes"}));
  describe_ = app_.add_subcommand("describe",
                                  "show equation, parameters, units and source of a name, or a recipe's content and "
                                  "claims; `recipe` shows all keys");
  describe_->add_option("NAME", name_)->required();
  claims_ = app_.add_subcommand("claims", "show the claims of a result file");
  claims_->add_option("FILE", file_, "result file (HDF5)")->required()->check(on_one_line_);
  cite_ = app_.add_subcommand("cite", "print BibTeX of the program and of the papers that a recipe is based on");
  add_recipe(cite_)->required(false);
  // Used by the installation; hidden from the help.
  generate_ = app_.add_subcommand("generate", "manual page, completions, or the catalogues as JSON")->group("");
  generate_->add_option("WHAT", what_)->required()->check(CLI::IsMember({"man", "completion", "catalogue"}));
  serve_ = app_.add_subcommand("serve", "execute commands that are read from standard input, for other programs");
  plot_ = app_.add_subcommand("plot", "plot a result: the figure of its recipe, or the default one of its study");
  plot_->add_option("FILE", plot_request_.result, "result file (HDF5)")->required()->check(on_one_line_);
  plot_
      ->add_option("-o,--output", plot_request_.stem,
                   "write STEM.png and STEM.pdf; default: the path of the result without its extension")
      ->check(on_one_line_)
      ->type_name("STEM");
}

void CommandLine::fill_requests(std::optional<std::vector<std::string>> petsc_options, const Communicator& world) {
  if (petsc_options) {
    if (!run_->parsed() && !check_->parsed() && !resume_->parsed() && !verify_->parsed()) {
      throw UsageError("options after `--` are supported only by `run`, `check`, `resume` and `verify`");
    }
    petsc_options = user_options(*petsc_options, world);
    request_.petsc_options = *petsc_options;
    resumption_.petsc_options = verification_.petsc_options = petsc_options;
  }
  const std::map<std::string, ProgressStyle> styles = {{"auto", ProgressStyle::automatic},
                                                       {"bar", ProgressStyle::bar},
                                                       {"lines", ProgressStyle::lines},
                                                       {"none", ProgressStyle::none}};
  request_.progress = resumption_.progress = verification_.progress = styles.at(style_);
  request_.wall_time = resumption_.wall_time = wall_time_;
  if (!request_.recipe.empty() && !request_.text) request_.recipe = find_recipe(request_.recipe, world);
  if (!resumption_.recipe.empty()) resumption_.recipe = find_recipe(resumption_.recipe, world);
}

std::string CommandLine::generated(const Program& program) const {
  if (what_ == "man") return manual_page(app_);
  if (what_ == "catalogue") return catalogue_json(program);
  std::vector<std::string> recipes;
  for (const LibraryRecipe& recipe : library_recipes()) recipes.push_back(recipe.name);
  return shell_completion(app_, names_to_describe(program.catalogue_schema()), recipes);
}

int CommandLine::execute_run(const Program& program) {
  const Communicator& world = program.communicator();
  if (run_->parsed()) return run_all(request_, program);
  if (verify_->parsed()) return verify_result(verification_, program);
  if (resume_->parsed()) {
    if (!resumption_.settings.empty() && resumption_.recipe.empty()) {
      throw UsageError("--set and --unset need --recipe: a resumed run uses the recipe in its checkpoint");
    }
    return resume_run(resumption_, program);
  }
  if (claims_->parsed()) return run_on_root(world, exit_code::usage, [&] { return show_claims(file_, program); });
  if (plot_->parsed()) return run_on_root(world, exit_code::usage, [&] { return plot_result(plot_request_); });
  if (generate_->parsed()) {
    if (world.is_root()) fmt::print("{}", generated(program));
  } else if (sweep_->parsed()) {
    list_sweep(request_, sweep_format_, program);
  } else if (check_->parsed()) {
    check_all(request_, program);
  } else if (resolve_->parsed()) {
    const std::vector<Recipe> elements = read_recipe(request_.recipe, request_.settings, program).elements;
    if (element_ >= elements.size())
      throw UsageError(fmt::format("--element: {} has {}", request_.recipe,
                                   counted(static_cast<std::int64_t>(elements.size()), "element")));
    if (world.is_root()) fmt::print("{}", elements[element_].resolved);
  } else if (convert_->parsed()) {
    conversion_.recipe = request_.recipe;
    conversion_.settings = request_.settings;
    convert_recipe(conversion_, program);
  } else if (import_->parsed()) {
    import_environments(import_request_, program);
  } else if (cite_->parsed()) {
    const std::string papers = request_.recipe.empty()
                                   ? ""
                                   : cite_recipes(read_recipe(request_.recipe, request_.settings, program).elements,
                                                  program.catalogue_schema());
    if (world.is_root()) fmt::print("{}{}", cite_program(), papers);
  } else {
    const std::string text =
        list_->parsed() ? list_names(what_, program.catalogue_schema()) : describe_name(name_, program);
    if (world.is_root()) fmt::print("{}", text);
  }
  return exit_code::complete;
}

int CommandLine::run(const std::vector<std::string>& words, const std::optional<std::string>& recipe,
                     const Program& program) {
  const Communicator& world = program.communicator();
  auto [arguments, petsc_options] = split_arguments(words);
  const std::vector<std::string> all_arguments = arguments;
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse order
  try {
    app_.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      if (world.is_root()) app_.exit(error);
      return exit_code::complete;
    }
    const std::string message = unknown_word_message(all_arguments);
    throw UsageError(message.empty() ? fmt::format("{}; --help lists the options", error.what()) : message);
  }
  if (!json_.empty()) {
    add_json_log(json_, world);
    spdlog::info("bathline {}", fmt::join(all_arguments, " "));
  }
  if (serve_->parsed()) return serve(program);
  if (stops_at_end_of_input_ && world.is_root()) stop_at_end_of_input();
  request_.text = recipe;
  fill_requests(std::move(petsc_options), world);
  return execute_run(program);
}

std::string CommandLine::unknown_word_message(const std::vector<std::string>& arguments) const {
  if (arguments.empty()) return "";
  std::vector<std::string> names;
  for (const CLI::App* command :
       app_.get_subcommands([](const CLI::App* candidate) { return !candidate->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  const std::string& first = arguments.front();
  const auto commands = app_.get_subcommands([&](const CLI::App* candidate) { return candidate->get_name() == first; });
  if (commands.empty()) {
    return first.starts_with('-') ? ""
                                  : fmt::format("unknown command `{}`{}", first, spelling_advice(first, names, '`'));
  }
  names.clear();
  for (const CLI::Option* option : commands.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) continue;
    return fmt::format("`{}` has no option `{}`{}", first, name, spelling_advice(name, names, '`'));
  }
  return "";
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const std::optional<std::string>& recipe,
                     const Program& program) {
  return exit_code_of([&] { return CommandLine().run(arguments, recipe, program); });
}

}  // namespace bathline
