// The build id in the notes of a loaded ELF object.
// Tested by tests/command_line/verify_test.py.
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "record/build_facts.hpp"

namespace bathline::build_facts {

namespace {

std::string id_in_note(const char* note, std::size_t bytes, std::size_t alignment) {
  const auto padded = [&](std::size_t size) { return (size + alignment - 1) / alignment * alignment; };
  for (ElfW(Nhdr) header; bytes >= sizeof header;) {
    std::memcpy(&header, note, sizeof header);
    const std::size_t begin = sizeof header + padded(header.n_namesz), size = begin + padded(header.n_descsz);
    if (size > bytes) break;
    if (header.n_type == NT_GNU_BUILD_ID &&
        std::string_view(note + sizeof header, header.n_namesz) == std::string_view("GNU", 4)) {
      std::string id;
      for (std::size_t i = 0; i < header.n_descsz; ++i)
        id += fmt::format("{:02x}", static_cast<unsigned char>(note[begin + i]));
      return id;
    }
    note += size;
    bytes -= size;
  }
  return "";
}

struct Ids {
  std::string program, library;
  bool has_program = false;
};

/// Called for the program first.
int visit(dl_phdr_info* object, std::size_t, void* result) {
  Ids& ids = *static_cast<Ids*>(result);
  const auto here = reinterpret_cast<std::uintptr_t>(&visit);
  std::string id;
  bool is_here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    is_here = is_here || (segment.p_type == PT_LOAD && here >= begin && here - begin < segment.p_memsz);
    if (segment.p_type == PT_NOTE && id.empty())
      id = id_in_note(reinterpret_cast<const char*>(begin), segment.p_memsz, segment.p_align == 8 ? 8 : 4);
  }
  if (!std::exchange(ids.has_program, true)) ids.program = id;
  if (is_here) ids.library = id;
  return is_here ? 1 : 0;
}

}  // namespace

std::string build_id() {
  Ids ids;
  dl_iterate_phdr(visit, &ids);
  return ids.program == ids.library ? ids.program : ids.program + "+" + ids.library;
}

}  // namespace bathline::build_facts
