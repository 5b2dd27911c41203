// Certificates of environments that are represented by an approximation, with the errors of that.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bathline {

struct Certificate {
  struct Entry {
    std::string name, units, long_name;
    double value;
  };
  /// One property of all parts that the environment consists of, an array over the parts.
  struct Parts {
    std::string name, units, long_name;
    std::vector<double> values;
  };
  std::string sentence;  ///< the whole certificate as text for the log
  std::vector<Entry> entries;
  std::string part = "site";  ///< name of one part
  std::vector<Parts> parts = {};
};

/// Implemented by environments that have a certificate.
class Certified {
 public:
  virtual ~Certified() = default;
  /// That of the environment stepper made last; nothing before the first. The same on every rank.
  virtual std::optional<Certificate> certificate() const = 0;
};

}  // namespace bathline
