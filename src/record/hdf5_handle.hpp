// What the HDF5 library hands out, each closed when its owner goes, and the errors of its calls; for .cpp files of
// record/ only. The one place where hdf5.h and its high-level part are included.
#pragma once

#include <hdf5.h>
#include <hdf5_hl.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace bathline::hdf5 {

/// A call of HDF5 that failed on this process: what was tried and why it failed. Stays inside record/, where it turns
/// into a FileError that all ranks throw together.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Owns one identifier. `Close` is HDF5's function for its kind.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() { close(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }

  hid_t id() const { return id_; }
  bool is_open() const { return id_ >= 0; }
  /// Gives the identifier up without closing it.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  /// Closes now; negative when HDF5 could not.
  herr_t close() { return id_ >= 0 ? Close(std::exchange(id_, H5I_INVALID_HID)) : 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Dataspace = Handle<H5Sclose>;
using Datatype = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using PropertyList = Handle<H5Pclose>;
using Object = Handle<H5Oclose>;

/// Switches off that HDF5 prints its errors by itself.
void suppress_hdf5_messages();

/// Throws the Failure of a call that has just failed: `what` was tried, and HDF5's reason.
[[noreturn]] void fail(const char* what);

/// Passes on what a call returned, or fails where it is negative. For hid_t, herr_t, htri_t and sizes alike.
template <class Result>
Result check(Result result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

}  // namespace bathline::hdf5
