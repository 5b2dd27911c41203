// A study run from a recipe's text into a file that is read back on rank 0.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "petsc_world.hpp"
#include "recipe_text.hpp"
#include "record/shared_folder.hpp"

namespace bathline {

class RunStudy {
 public:
  /// Fails the test where the recipe has mistakes or its run fails, unless it may. @note Collective.
  explicit RunStudy(const std::string& text) : RunStudy(text, May::fail) {
    EXPECT_EQ(report, "");
    EXPECT_FALSE(failure) << failure->failure.reason;
  }
  enum class May { fail };
  RunStudy(const std::string& text, May) : read_(read_recipe(text)) {
    report = read_.report();
    if (!read_.mistakes.empty()) return;
    const StudyKind* kind = test_program().catalogues().studies.find(read_.recipe->study.text("kind"));
    const std::unique_ptr<Study> study = kind->make(*read_.recipe, *read_.experiment, read_.mistakes);
    report = read_.report();
    if (!read_.mistakes.empty()) return;
    {
      ResultFile file(folder_.file("result.h5"), test_world(), false);
      Progress progress(ProgressStyle::none, test_world().is_root());
      Checkpoints none;
      failure = study->run(file, progress, none);
      file.close();
    }
    if (test_world().is_root()) reader_ = std::make_unique<ResultReader>(folder_.file("result.h5"));
    test_world().barrier();
  }

  std::string report;  ///< mistakes; then there is no file
  std::optional<CaseFailure> failure;
  const Experiment& experiment() const { return *read_.experiment; }
  const std::vector<std::string>& warnings() const { return read_.feasibility->warnings(); }

  /// Values of a variable, the same on every rank. @note Collective.
  std::vector<double> values(const std::string& path) const {
    std::vector<double> all;
    if (reader_ && reader_->is_variable(path)) all = reader_->read(path).values;
    std::int64_t count = static_cast<std::int64_t>(all.size());
    test_world().broadcast(std::span<std::int64_t>(&count, 1));
    all.resize(static_cast<std::size_t>(count));
    test_world().broadcast(std::span<double>(all));
    EXPECT_GT(count, 0) << path << " is not there";
    if (all.empty()) all.resize(1);
    return all;
  }
  double value(const std::string& path) const { return values(path).front(); }
  /// The same on every rank. @note Collective.
  bool has(const std::string& path) const {
    return test_world().broadcast(reader_ != nullptr && reader_->is_variable(path));
  }

 private:
  SharedFolder folder_;
  ReadRecipe read_;
  std::unique_ptr<ResultReader> reader_;
};

/// The mistakes of a recipe; one without any is run. @note Collective.
inline std::string report_of(const std::string& text) { return RunStudy(text, RunStudy::May::fail).report; }

}  // namespace bathline
