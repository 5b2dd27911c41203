// Agreement of all ranks on the failure of the lowest rank that failed.
// Tested by tests/record/result_file_test.cpp.
#include "record/on_all_ranks.hpp"

#include <string>

#include "record/result_file.hpp"

namespace bathline {

void on_all_ranks(const Communicator& communicator, const std::function<void()>& work) {
  std::string reason;
  try {
    work();
  } catch (const std::exception& error) {
    reason = error.what();
    if (reason.empty()) reason = "unknown failure";
  }
  // The largest number belongs to the lowest rank that failed.
  const double vote =
      communicator.max(reason.empty() ? -1.0 : static_cast<double>(communicator.size() - communicator.rank()));
  if (vote < 0.0) return;
  throw FileError(communicator.broadcast(reason, communicator.size() - static_cast<int>(vote)));
}

}  // namespace bathline
