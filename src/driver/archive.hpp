// State on its way into a checkpoint or out of one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "record/checkpoint_file.hpp"

namespace bathline {

/// A group of a checkpoint. Whoever has a state declares it in one function that visits an archive, by the same names
/// and in the same order whether it is written or put back. Rank 0's numbers are written, and all ranks get them back.
/// All members are collective; reading throws std::out_of_range where something does not fit.
class Archive {
 public:
  Archive(CheckpointWriter& writer, std::string path) : writer_(&writer), path_(std::move(path)) {}
  Archive(const CheckpointReader& reader, std::string path) : reader_(&reader), path_(std::move(path)) {}

  /// What lies in the group `name` of this one.
  Archive group(const std::string& name) const;

  /// A list of any length, or of as many numbers as `size` says.
  void numbers(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size = {});
  /// One list of all these numbers, whose count does not change.
  void numbers(const std::string& name, std::span<const std::span<double>> parts);
  void numbers(const std::string& name, std::initializer_list<double*> each);
  void counts(const std::string& name, std::initializer_list<std::int64_t*> each);

  /// A group for each of a list of things, in whose archive `visit(archive, thing)` tells its state.
  template <class Thing, class Visit>
  void each(std::vector<Thing>& things, Visit visit) {
    if (reader_ != nullptr) things.resize(names().size());
    for (std::size_t i = 0; i < things.size(); ++i) {
      Archive one = group(fmt::format("{:06}", i));
      visit(one, things[i]);
    }
  }
  /// The same of things with names, which are those of their groups.
  template <class Thing, class Visit>
  void each(std::map<std::string, Thing>& things, Visit visit) {
    if (reader_ != nullptr) {
      for (const std::string& name : names()) things[name];
    }
    for (auto& [name, thing] : things) {
      Archive one = group(name);
      visit(one, thing);
    }
  }

 private:
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> names() const { return reader_->names(path_); }

  CheckpointWriter* writer_ = nullptr;
  const CheckpointReader* reader_ = nullptr;
  std::string path_;
};

}  // namespace bathline
