// Owning handles of HDF5 identifiers, and checking of HDF5 calls. Only for .cpp files of record/. The only file that
// includes hdf5.h and its high-level part.
#pragma once

#include <hdf5.h>
#include <hdf5_hl.h>

#include <stdexcept>
#include <utility>

namespace bathline::hdf5 {

/// A failed HDF5 call of this process: what was tried and why it failed. It stays inside record/, which turns it into a
/// FileError on all ranks.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Owns one identifier; `Close` is the HDF5 function that closes it.
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
  /// Releases the identifier without closing it.
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }
  /// Closes now; negative if HDF5 fails.
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

/// Stops HDF5 from printing its errors and from closing files at exit. To be called before any other use.
void prepare_library();

/// Throws the Failure of a call that has just failed, with HDF5's reason; `what` says what was tried.
[[noreturn]] void fail(const char* what);

/// Returns the result of a call, or fails if it is negative. For hid_t, herr_t, htri_t and sizes.
template <class Result>
Result check(Result result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

}  // namespace bathline::hdf5
