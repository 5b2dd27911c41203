// Reading and writing state as groups of a checkpoint file.
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

/// A group of a checkpoint file, "" for all of it. A class lists its variables in one function, which both saves and
/// restores them. Rank 0's numbers are written, and reading gives them to all ranks. All members are collective;
/// reading throws std::out_of_range if a size differs from the expected one.
class Archive {
 public:
  Archive(CheckpointWriter& writer, std::string path) : writer_(&writer), path_(std::move(path)) {}
  Archive(const CheckpointReader& reader, std::string path) : reader_(&reader), path_(std::move(path)) {}

  /// The subgroup `name`.
  Archive group(const std::string& name) const;

  /// A list of numbers, of length `size` if that is given, else of any length.
  void numbers(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size = {});
  /// All parts as one list of fixed length.
  void numbers(const std::string& name, std::span<const std::span<double>> parts);
  void numbers(const std::string& name, std::initializer_list<double*> each);
  void counts(const std::string& name, std::initializer_list<std::int64_t*> each);

  /// A list that is distributed over the ranks: this rank's values are those from `first` on, of `total`.
  void distributed(const std::string& name, std::span<double> values, std::int64_t first, std::int64_t total);
  bool is_reading() const { return reader_ != nullptr; }

  /// One group for each element of a list; `visit(archive, element)` declares the element's state in it.
  template <class Element, class Visit>
  void each(std::vector<Element>& elements, Visit visit) {
    if (reader_ != nullptr) elements.resize(names().size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      Archive element_archive = group(fmt::format("{:06}", i));
      visit(element_archive, elements[i]);
    }
  }
  /// The same for a map, whose keys are the names of the groups.
  template <class Element, class Visit>
  void each(std::map<std::string, Element>& elements, Visit visit) {
    if (reader_ != nullptr) {
      for (const std::string& name : names()) elements[name];
    }
    for (auto& [name, element] : elements) {
      Archive element_archive = group(name);
      visit(element_archive, element);
    }
  }

 private:
  std::string path_of(const std::string& name) const { return path_.empty() ? name : path_ + "/" + name; }
  std::vector<std::string> names() const { return reader_->names(path_); }

  CheckpointWriter* writer_ = nullptr;
  const CheckpointReader* reader_ = nullptr;
  std::string path_;
};

}  // namespace bathline
