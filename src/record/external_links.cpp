// Checking all links and storage layouts of a file.
// Tested by tests/command_line/strangers_test.py.
#include "record/external_links.hpp"

#include <fmt/format.h>

#include <set>

#include "text/printable_text.hpp"
#include "record/hdf5_layout.hpp"

namespace bathline {

namespace {

/// The state of the iteration over the links of a file.
struct Walk {
  std::set<haddr_t> objects;
  std::string problem;
};

/// Why the storage of a variable is not accepted, or "".
std::string storage_problem(hid_t group, const char* name) {
  const hdf5::Dataset variable(hdf5::check(H5Dopen2(group, name, H5P_DEFAULT), "opening a variable"));
  const hdf5::PropertyList properties(hdf5::check(H5Dget_create_plist(variable.id()), "reading properties"));
  if (hdf5::check(H5Pget_layout(properties.id()), "reading a layout") == H5D_VIRTUAL) {
    return "is a virtual dataset of other files";
  }
  return hdf5::check(H5Pget_external_count(properties.id()), "reading a layout") > 0
             ? "stores its values in other files"
             : "";
}

herr_t check_link(hid_t group, const char* name, const H5L_info_t* link, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const auto stop = [&](const char* what) {
    walk.problem = fmt::format("`{}` {}", printable(name), what);
    return 1;
  };
  if (link->type == H5L_TYPE_SOFT) return stop("is a soft link");
  if (link->type != H5L_TYPE_HARD) return stop("is a link to another file");
  if (!walk.objects.insert(link->u.address).second) return stop("is a second hard link to an object");
  try {
    H5O_info_t object;
    hdf5::check(H5Oget_info_by_name(group, name, &object, H5P_DEFAULT), "opening");
    if (object.type != H5O_TYPE_DATASET) return 0;
    const std::string problem = storage_problem(group, name);
    return problem.empty() ? 0 : stop(problem.c_str());
  } catch (const hdf5::Failure&) {
    return -1;  // a torn file
  }
}

}  // namespace

void refuse_external_links(const hdf5::File& file, const std::string& path) {
  Walk walk;
  H5O_info_t root;
  hdf5::check(H5Oget_info(file.id(), &root), "opening");
  walk.objects.insert(root.addr);
  hdf5::check(H5Lvisit(file.id(), H5_INDEX_NAME, H5_ITER_INC, check_link, &walk), "iterating over its links");
  if (walk.problem.empty()) return;
  throw ExternalLinks(
      fmt::format("cannot read {}: {}, which results and checkpoints do not contain", path, walk.problem));
}

void require_stored(const hdf5::Dataset& variable, std::size_t width) {
  constexpr double always_accepted = 1 << 20;  // bytes
  constexpr double max_compression = 1032.0;   // of deflate
  double bytes = static_cast<double>(width);
  for (const hsize_t length : hdf5::shape_of(variable)) bytes *= static_cast<double>(length);
  const auto stored = static_cast<double>(H5Dget_storage_size(variable.id()));
  if (bytes <= always_accepted || bytes <= max_compression * stored) return;
  throw hdf5::Failure(fmt::format("it declares {:.3g} bytes, but only {:.3g} are stored", bytes, stored));
}

}  // namespace bathline
