// The lifetime of PETSc in a run.
#include "solve/petsc_session.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <sstream>
#include <utility>

#include "parallel/mpi_handle.hpp"
#include "recipe/mistakes.hpp"
#include "solve/line_preconditioner.hpp"
#include "solve/minimiser.hpp"
#include "solve/snes_solver.hpp"
#include "solve/petsc_handle.hpp"
#include "solve/petsc_options.hpp"

namespace bathline {

namespace {

/// PETSc's first message of an error, kept for the exception; PETSc's own handler prints a trace on every rank.
thread_local std::string last_message;
/// The number of ranks on which PETSc raised that error.
thread_local int ranks_of_last_error = 0;
/// What a callback of PETSc threw.
thread_local std::exception_ptr kept_exception;

PetscErrorCode remember_error(MPI_Comm comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                              const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL && message) {
    last_message = message;
    MPI_Comm_size(comm, &ranks_of_last_error);
  }
  return code;
}

/// Makes PETSc query every standard option of the solvers that a run may have, so that a run without solvers can
/// distinguish these from misspelt ones.
void query_standard_options() {
  SnesHandle snes;
  petsc_check(SNESCreate(PETSC_COMM_SELF, snes.out()));
  petsc_check(SNESSetFromOptions(snes.get()));
  const SnesSolver newton(1, {}, {});
  query_minimiser_options();
}

/// Options that PETSc queries only during or after a solve; they print something and change no result.
bool is_queried_during_solve(const std::string& name) {
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  const bool prints = ends_with("_view") || ends_with("_view_pre") || ends_with("_converged_reason");
  const std::size_t prefix = name.rfind("particles_", 0) == 0 ? 10 : 0;
  const std::string object = name.substr(prefix, name.find('_', prefix) - prefix);
  return prints && (object == "tao" || object == "snes" || object == "ksp" || object == "pc" || object == "mat" ||
                    object == "vec" || object == "log");
}

}  // namespace

PetscErrorCode keep_exception() noexcept {
  kept_exception = std::current_exception();
  return PETSC_ERR_USER;
}

std::string petsc_failure(PetscErrorCode code, int ranks) {
  if (code == 0) return "";
  const bool is_common = !kept_exception && code != PETSC_ERR_MEM && ranks_of_last_error == ranks;
  if (!is_common) petsc_check(code);
  return std::exchange(last_message, {});
}

void petsc_check(PetscErrorCode code, const char* file, int line) {
  if (code == 0) return;
  if (std::exception_ptr kept = std::exchange(kept_exception, nullptr)) std::rethrow_exception(std::move(kept));
  if (code == PETSC_ERR_MEM) throw std::bad_alloc();
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  const std::string message = std::exchange(last_message, {});
  throw SolverError(fmt::format("PETSc: {} ({}; {}:{})", message.empty() ? "call failed" : message,
                                text ? text : "unknown error", file, line));
}

PetscSession::PetscSession(const Communicator& communicator, const std::vector<std::string>& options)
    : communicator_(communicator) {
  // PETSc reads PETSC_OPTIONS by itself; they are checked here because its own messages about mistakes are unclear.
  const char* variable = std::getenv("PETSC_OPTIONS");
  std::istringstream stream(variable == nullptr ? "" : variable);
  const std::vector<std::string> environment_options(std::istream_iterator<std::string>(stream), {});
  user_options(environment_options, communicator);
  if (communicator.size() > 1 || !options.empty() || !environment_options.empty()) start(communicator);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& name = options[i];
    const bool has_value = i + 1 < options.size() && !is_option_name(options[i + 1]);
    const char* value = nullptr;
    PetscBool is_set = PETSC_FALSE;
    petsc_check(PetscOptionsFindPair(nullptr, nullptr, name.c_str(), &value, &is_set));
    std::optional<std::string> before;
    if (is_set) before = value == nullptr ? "" : value;
    replaced_.push_back({name, before});
    petsc_check(PetscOptionsSetValue(nullptr, name.c_str(), has_value ? options[i + 1].c_str() : nullptr));
    if (name == "-log_view") {
      prints_log_ = true;
      petsc_check(PetscLogDefaultBegin());
    }
    i += has_value ? 1 : 0;
  }
}

PetscSession::~PetscSession() {
  if (prints_log_) PetscLogViewFromOptions();
  for (auto option = replaced_.rbegin(); option != replaced_.rend(); ++option) {
    PetscOptionsClearValue(nullptr, option->name.c_str());
    if (option->value) PetscOptionsSetValue(nullptr, option->name.c_str(), option->value->c_str());
  }
}

void PetscSession::start(const Communicator& communicator) {
  if (runs()) return;
  PETSC_COMM_WORLD = mpi_comm(communicator);
  std::string words[] = {"bathline", "-no_signal_handler", "-skip_petscrc"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int count = 3;
  char** values = arguments;
  petsc_check(PetscPushErrorHandler(remember_error, nullptr));
  try {
    petsc_check(PetscInitialize(&count, &values, nullptr, nullptr));
  } catch (const SolverError& error) {
    throw UsageError(fmt::format("PETSc does not start with the options in PETSC_OPTIONS: {}", error.what()));
  }
  register_line_preconditioner();
  at_end_of_mpi([] {
    // Unused options were reported before the runs, so PETSc need not report them again.
    PetscOptionsSetValue(nullptr, "-options_left", "no");
    PetscPopErrorHandler();
    PetscFinalize();
  });
}

void PetscSession::start_if_deferred() {
  // A session of several ranks has started it.
  if (!runs()) start(this_process());
}

bool PetscSession::runs() {
  PetscBool initialised = PETSC_FALSE;
  PetscInitialized(&initialised);
  return initialised == PETSC_TRUE;
}

std::vector<std::string> PetscSession::unknown_options() const {
  if (!runs()) return {};
  query_standard_options();
  PetscInt count = 0;
  char** names = nullptr;
  char** values = nullptr;
  petsc_check(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::string joined;
  for (PetscInt i = 0; i < count; ++i) {
    const std::string name = names[i];
    const bool is_internal = name == "no_signal_handler" || name == "skip_petscrc";
    if (!is_internal && !is_queried_during_solve(name)) joined += name + "\n";
  }
  petsc_check(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  // Solvers of the particles exist on rank 0 only, so the list of rank 0 is the right one.
  joined = communicator_.broadcast(joined);
  std::vector<std::string> unknown;
  for (std::size_t begin = 0; begin < joined.size();) {
    const std::size_t end = joined.find('\n', begin);
    unknown.push_back(fmt::format("-{}", joined.substr(begin, end - begin)));
    begin = end + 1;
  }
  return unknown;
}

LogStage::LogStage(const char* name) : is_logged_(PetscSession::runs()) {
  if (!is_logged_) return;
  PetscLogStage stage = -1;
  petsc_check(PetscLogStageGetId(name, &stage));
  if (stage < 0) petsc_check(PetscLogStageRegister(name, &stage));
  petsc_check(PetscLogStagePush(stage));
}

LogStage::~LogStage() {
  if (is_logged_) PetscLogStagePop();
}

std::string petsc_version() {
  PetscInt major = 0, minor = 0, subminor = 0, release = 0;
  petsc_check(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  return fmt::format("{}.{}.{}, {}-bit indices", major, minor, subminor, 8 * sizeof(PetscInt));
}

}  // namespace bathline
