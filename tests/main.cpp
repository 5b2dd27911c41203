// The test program: starts message passing, runs the tests on every rank, fails if any rank fails.
// Rank 0 reports as usual, the others only their failures.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "simd/subnormals.hpp"
#include "test_world.hpp"

namespace bathline {

namespace {

const MpiSession* session = nullptr;

/// Prints the failures of the ranks that do not report otherwise, and aborts the program after a fatal failure, as the
/// other ranks would wait for this one.
class RankListener : public testing::EmptyTestEventListener {
 public:
  // While a result is reported GoogleTest cannot be asked for the current test.
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (!part.failed()) return;
    const auto& world = session->world();
    if (!world.is_root()) {
      std::fprintf(stderr, "rank %d: %s:%d: Failure in %s\n%s\n", world.rank(),
                   part.file_name() == nullptr ? "?" : part.file_name(), part.line_number(), test_.c_str(),
                   part.message());
    }
    if (part.fatally_failed() && world.size() > 1) session->abort(1);
  }

 private:
  std::string test_;
};

}  // namespace

const Communicator& test_world() { return session->world(); }

}  // namespace bathline

// Defined in programs with the leak sanitizer only. Memory allocated between the two calls is not reported.
extern "C" void __lsan_disable() __attribute__((weak));
extern "C" void __lsan_enable() __attribute__((weak));

int main(int argc, char** argv) {
  bathline::flush_subnormals();  // as the program does
  // Open MPI does not free some of its initial memory, allocated in plugins that it unloads: their stacks have no names
  // to suppress.
  if (__lsan_disable) __lsan_disable();
  const bathline::MpiSession session;
  if (__lsan_enable) __lsan_enable();
  bathline::session = &session;
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (!session.world().is_root()) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new bathline::RankListener);
  const int result = RUN_ALL_TESTS();
  const bool failed = session.world().any(result != 0);
  if (__lsan_disable) __lsan_disable();  // the end of the session
  return failed ? 1 : 0;
}
