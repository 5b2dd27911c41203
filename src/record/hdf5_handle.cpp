// The reasons of HDF5's failures as text.
// Tested by tests/record/result_file_test.cpp.
#include "record/hdf5_handle.hpp"

#include <string_view>

namespace bathline::hdf5 {

namespace {

/// HDF5 quotes the system ("... errno = 28, error message = 'No space left on device', ...") and MPI
/// ("MPI_ERR_NO_SPACE: no space left on device"); this extracts the system's message.
std::string system_message_in(std::string_view description) {
  constexpr std::string_view opening = "error message = '";
  if (const auto start = description.find(opening); start != std::string_view::npos) {
    description.remove_prefix(start + opening.size());
    return std::string(description.substr(0, description.find('\'')));
  }
  return std::string(description);
}

/// Stores the innermost description, which is the cause; the outer ones describe its consequences.
herr_t store_first(unsigned, const H5E_error2_t* error, void* data) {
  auto& cause = *static_cast<std::string*>(data);
  if (cause.empty() && error->desc != nullptr) cause = system_message_in(error->desc);
  return 0;
}

}  // namespace

void prepare_library() {
  // Files are closed by their owners; those that cannot be closed must not be closed at exit either.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void fail(const char* what) {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, store_first, &cause);
  throw Failure(cause.empty() ? std::string(what) : std::string(what) + ": " + cause);
}

}  // namespace bathline::hdf5
