// Any bytes as a checkpoint, and a valid checkpoint with changed content, from which the run is resumed.
//
// The first byte of an input selects the meaning of the others. 0: the bytes of a file. 1: the bytes before the
// checksum, which is then appended, so that HDF5 reads them. Else: changes to a valid checkpoint, made through HDF5.
// The second kind tests HDF5 itself, so it only reads a little and does not resume the run.
#include <hdf5.h>

#include <fuzzer/FuzzedDataProvider.h>

#include <filesystem>
#include <fstream>

#include "driver/run.hpp"
#include "fuzz_world.hpp"
#include "recipe/mistakes.hpp"
#include "record/checkpoint_file.hpp"
#include "record/checksum.hpp"

namespace {

using namespace bathline;
namespace fs = std::filesystem;

constexpr const char* recipe = R"(
title = "A particle with a line and a bath"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
q0 = [1.0]
v0 = [0.5]
[[environments]]
kind = "spring-mass-line"
sites = 9
grid = "characteristic"
damping = 0.4
[[environments]]
kind = "heat-bath"
oscillators = 5
damping = 0.1
omega_max = 5.0
[time]
step = 0.05
steps = 10
[[integrators]]
method = "stoermer-verlet"
name = "verlet"
on = "closed"
[[integrators]]
method = "gamma"
gamma = 0.5
on = "closed"
name = "gamma"
[output]
checkpoint_every = 7
keep_checkpoints = 1
snapshots = 5
)";

/// A finished run with a checkpoint of its second integrator, which inputs of the third kind change.
class ValidRun {
 public:
  ValidRun() {
    std::string name = (fs::path("/dev/shm") / "bathline-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::ofstream(folder_ / "run.toml") << recipe;
    RunRequest request;
    request.recipe = folder_ / "run.toml";
    request.output = result();
    request.progress = ProgressStyle::none;
    require(run_recipe(request, FuzzWorld::program()) == 0);
    const auto checkpoints = find_checkpoints(result());
    require(!checkpoints.empty());
    checkpoint_ = checkpoints.front().path;
    fs::copy(result(), folder_ / "result.original");
    fs::copy(checkpoint_, folder_ / "checkpoint.original");
    GuardedReader guard;
    bytes_of_copy_ = CheckpointReader(checkpoint_, guard, FuzzWorld::communicator()).count("bytes_of_result");
  }
  ~ValidRun() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string result() const { return folder_ / "run.h5"; }
  const std::string& checkpoint() const { return checkpoint_; }
  void restore() const {
    fs::copy(folder_ / "result.original", result(), fs::copy_options::overwrite_existing);
    fs::copy(folder_ / "checkpoint.original", checkpoint_, fs::copy_options::overwrite_existing);
  }
  /// Where the copy of the result begins in the original checkpoint.
  std::int64_t state_size() const { return size_without_checksum(original(), "checkpoint") - bytes_of_copy_; }
  /// Appends the copy of the result, which HDF5 truncates when it changes the state, and the checksum.
  void complete() const {
    append_bytes(original(), state_size(), bytes_of_copy_, checkpoint_);
    append_checkpoint_checksum(checkpoint_, FuzzWorld::communicator());
  }

 private:
  std::string original() const { return folder_ / "checkpoint.original"; }

  fs::path folder_;
  std::string checkpoint_;
  std::int64_t bytes_of_copy_ = 0;
};

const ValidRun& valid_run() {
  static const ValidRun run;
  return run;
}

void write_bytes(const std::vector<std::uint8_t>& bytes) {
  std::ofstream(valid_run().checkpoint(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// Names of all lists of numbers in the file, in a fixed order.
std::vector<std::string> lists_in(hid_t file) {
  std::vector<std::string> names;
  H5Ovisit(
      file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5O_info_t* info, void* all) -> herr_t {
        if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(all)->emplace_back(name);
        return 0;
      },
      &names);
  return names;
}

double any_number(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return static_cast<double>(input.ConsumeIntegralInRange(-2, 20));
    case 1:
      return static_cast<double>(input.ConsumeIntegral<std::int64_t>());
    case 2:
      return input.ConsumeFloatingPointInRange(-1.0, 1.0);
    default:
      return input.ConsumeFloatingPoint<double>();
  }
}

void replace_list(hid_t file, const std::string& name, FuzzedDataProvider& input) {
  const int kind = input.ConsumeIntegralInRange(0, 6);
  if (kind == 0) {
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);
    return;
  }
  if (kind < 4) {  // one value
    const hid_t list = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(list);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(list, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    if (!values.empty()) values[input.ConsumeIntegralInRange<std::size_t>(0, values.size() - 1)] = any_number(input);
    H5Dwrite(list, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(list);
    return;
  }
  // Another shape or another type.
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const hsize_t shape[] = {input.ConsumeIntegralInRange<hsize_t>(0, 40), input.ConsumeIntegralInRange<hsize_t>(1, 3)};
  const hid_t space = kind == 4 ? H5Screate(H5S_SCALAR) : H5Screate_simple(kind == 5 ? 1 : 2, shape, nullptr);
  const hid_t type = input.ConsumeBool() ? H5T_NATIVE_DOUBLE : input.ConsumeBool() ? H5T_NATIVE_INT64 : H5T_C_S1;
  const hid_t list = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (type == H5T_NATIVE_DOUBLE) {
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    for (double& value : values) value = any_number(input);
    H5Dwrite(list, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  H5Dclose(list);
  H5Sclose(space);
}

void replace_attribute(hid_t file, FuzzedDataProvider& input) {
  constexpr const char* names[] = {"checkpoint_format", "result",   "recipe_resolved", "recipe",       "petsc_options",
                                   "started",           "compiler", "wall_time_s",     "input_file:x", "git_commit"};
  std::string name = input.PickValueInArray(names);
  if (name == "input_file:x") {
    // Never an absolute path: what it names would be compared with a file of this machine.
    name = "input_file:x" + input.ConsumeRandomLengthString(12);
    name = name.substr(0, name.find('\0'));
  }
  H5Adelete(file, name.c_str());
  const int kind = input.ConsumeIntegralInRange(0, 3);
  if (kind == 0) return;
  const hid_t space = H5Screate(H5S_SCALAR);
  const std::string text = input.ConsumeRandomLengthString(40);
  const double number = any_number(input);
  const hid_t string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, text.empty() ? 1 : text.size());
  const hid_t type = kind == 1 ? H5T_NATIVE_DOUBLE : string;
  const hid_t attribute = H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, kind == 1 ? static_cast<const void*>(&number) : static_cast<const void*>(text.c_str()));
  H5Aclose(attribute);
  H5Tclose(string);
  H5Sclose(space);
}

void change_content(FuzzedDataProvider& input) {
  fs::resize_file(valid_run().checkpoint(), static_cast<std::uintmax_t>(valid_run().state_size()));
  const hid_t file = H5Fopen(valid_run().checkpoint().c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  require(file >= 0);
  for (int i = 0; i < 4 && input.remaining_bytes() > 0; ++i) {
    const std::vector<std::string> lists = lists_in(file);
    if (lists.empty() || input.ConsumeIntegralInRange(0, 3) == 0) {
      replace_attribute(file, input);
    } else {
      replace_list(file, lists[input.ConsumeIntegralInRange<std::size_t>(0, lists.size() - 1)], input);
    }
  }
  H5Fclose(file);
}

void resume() {
  ResumeRequest request;
  request.checkpoint = valid_run().checkpoint();
  request.output = valid_run().result();
  request.any_build = true;
  request.progress = ProgressStyle::none;
  const int code = resume_run(request, FuzzWorld::program());
  require(code == exit_code::complete || code == exit_code::numerical_failure);
}

void read_a_little() {
  GuardedReader guard;
  const CheckpointReader checkpoint(valid_run().checkpoint(), guard, FuzzWorld::communicator());
  for (const char* name : {"checkpoint_format", "recipe_resolved", "result"}) checkpoint.attribute(name);
  for (const char* name : {"case", "step", "recorder/records", "particles/q"}) checkpoint.numbers(name);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  FuzzWorld::begin(FuzzWorld::Petsc::left_to_runs);
  valid_run();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<std::uint8_t> content(data + 1, data + size);
  valid_run().restore();
  try {
    if (data[0] <= 1) {
      write_bytes(content);
      if (data[0] == 1) append_checkpoint_checksum(valid_run().checkpoint(), FuzzWorld::communicator());
      read_a_little();
    } else {
      FuzzedDataProvider input(content.data(), content.size());
      change_content(input);
      valid_run().complete();
      resume();
    }
  } catch (const UsageError&) {
  } catch (const FileError&) {
  }
  return 0;
}
