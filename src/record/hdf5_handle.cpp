// The reasons of HDF5's failures, in words.
// Tested by tests/record/result_file_test.cpp.
#include "record/hdf5_handle.hpp"

#include <cctype>
#include <string_view>

namespace bathline::hdf5 {

namespace {

/// HDF5 quotes the system ("... errno = 28, error message = 'No space left on device', ...") and MPI
/// ("MPI_ERR_NO_SPACE: no space left on device"); a user wants to see the system's words alone.
std::string words_of_system(std::string_view description) {
  constexpr std::string_view opening = "error message = '";
  if (const auto start = description.find(opening); start != std::string_view::npos) {
    description.remove_prefix(start + opening.size());
    return std::string(description.substr(0, description.find('\'')));
  }
  return std::string(description);
}

/// Keeps the innermost description, which is the cause; the others say what could not be done because of it.
herr_t keep_first(unsigned, const H5E_error2_t* error, void* kept) {
  auto& cause = *static_cast<std::string*>(kept);
  if (cause.empty() && error->desc != nullptr) cause = words_of_system(error->desc);
  return 0;
}

}  // namespace

void suppress_hdf5_messages() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void fail(const char* what) {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &cause);
  throw Failure(cause.empty() ? std::string(what) : std::string(what) + ": " + cause);
}

}  // namespace bathline::hdf5
