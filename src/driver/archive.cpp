// Reading and writing state as groups of a checkpoint file.
#include "driver/archive.hpp"

#include <algorithm>
#include <stdexcept>

namespace bathline {

void Archive::numbers(const std::string& name, std::vector<double>& values, std::optional<std::size_t> size) {
  if (writer_ != nullptr) return writer_->numbers(path_of(name), values);
  values = reader_->numbers(path_of(name));
  if (size && values.size() != *size) throw std::out_of_range(path_of(name));
}

void Archive::numbers(const std::string& name, std::span<const std::span<double>> parts) {
  std::vector<double> all;
  for (const std::span<double> part : parts) all.insert(all.end(), part.begin(), part.end());
  numbers(name, all, all.size());
  auto next = all.begin();
  for (const std::span<double> part : parts) {
    std::copy_n(next, part.size(), part.begin());
    next += static_cast<std::ptrdiff_t>(part.size());
  }
}

void Archive::numbers(const std::string& name, std::initializer_list<double*> each) {
  std::vector<std::span<double>> parts;
  for (double* const number : each) parts.emplace_back(number, 1);
  numbers(name, parts);
}

void Archive::counts(const std::string& name, std::initializer_list<std::int64_t*> each) {
  std::vector<double> all;
  for (const std::int64_t* const count : each) all.push_back(static_cast<double>(*count));
  numbers(name, all, all.size());
  for (std::size_t i = 0; i < all.size(); ++i) *each.begin()[i] = count_of(all[i]);
}

void Archive::distributed(const std::string& name, std::span<double> values, std::int64_t first, std::int64_t total) {
  if (writer_ != nullptr) return writer_->file().write_distributed(path_of(name), values, first, total);
  const std::vector<double> read = reader_->piece(path_of(name), first, static_cast<std::int64_t>(values.size()));
  std::copy(read.begin(), read.end(), values.begin());
}

Archive Archive::group(const std::string& name) const {
  Archive inner = *this;
  inner.path_ = path_of(name);
  return inner;
}

}  // namespace bathline
