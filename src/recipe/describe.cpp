// The text of `bathline describe`, laid out for a terminal of 100 columns.
#include "recipe/describe.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/printable_text.hpp"
#include "recipe/recipe_schema.hpp"
#include "recipe/toml_reader.hpp"

namespace bathline {

namespace {

constexpr std::size_t page_width = 100;
// Narrower columns of sentences are harder to read than sentences on lines of their own.
constexpr std::size_t min_doc_width = 36;
// Longer choices and defaults would push the following columns off the page.
constexpr std::size_t max_cell_width = 30;

// Number of characters on the screen.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t filled = width_of(text);
  return filled < width ? text + std::string(width - filled, ' ') : text;
}

// Words of `text` in lines that fit between `indent` and the edge of the page, without the first line's indent.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string out, word;
  std::size_t column = indent;
  while (words >> word) {
    const std::size_t width = width_of(word);
    if (column > indent && column + 1 + width > page_width) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += width;
  }
  return out;
}

// Lines as they are, indented.
std::string indented(const std::string& text, std::size_t indent) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) out += line.empty() ? "\n" : std::string(indent, ' ') + line + "\n";
  return out;
}

// Paragraphs, each wrapped.
std::string paragraphs(const std::string& text, std::size_t indent) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) {
    out += line.empty() ? "\n" : std::string(indent, ' ') + wrapped(line, indent) + "\n";
  }
  return out;
}

std::string type_words(ValueType type) {
  switch (type) {
    case ValueType::boolean:
      return "true | false";
    case ValueType::integer:
      return "integer";
    case ValueType::number:
      return "number";
    case ValueType::text:
      return "text";
    case ValueType::numbers:
      return "list of numbers";
    case ValueType::integers:
      return "list of integers";
    case ValueType::texts:
      return "list of texts";
    case ValueType::rows:
      return "list of numbers or of rows";
    case ValueType::table:
      return "table";
    case ValueType::tables:
      return "list of tables";
  }
  return "";
}

std::string bound_words(Bound bound) {
  switch (bound) {
    case Bound::any:
      return "";
    case Bound::positive:
      return " > 0";
    case Bound::nonnegative:
      return " >= 0";
    case Bound::negative:
      return " < 0";
    case Bound::unit_interval:
      return " in [0, 1]";
  }
  return "";
}

std::string quoted_choices(const Parameter& parameter) {
  std::string text;
  for (const std::string& choice : parameter.choices) {
    const char* quote = parameter.type == ValueType::integer && parameter.alternative_types.empty() ? "" : "\"";
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " | ", quote, choice, quote);
  }
  return text;
}

// One parameter, cut into the columns of the page.
struct Line {
  std::array<std::string, 4> cells;  // name, kind, units, default or "required"
  std::string doc;
};

void add_lines(std::vector<Line>& lines, std::span<const Parameter> parameters, const std::string& indent) {
  for (const Parameter& parameter : parameters) {
    std::string kind = value_kind(parameter), doc = parameter.doc;
    if (!parameter.choices.empty() && width_of(kind) > max_cell_width) {
      doc += " One of " + kind + ".";
      kind = type_words(parameter.type);
    }
    if (!parameter.catalogue_name.empty())
      doc += fmt::format(" Its `kind`: `bathline list {}`.", parameter.catalogue_name);
    std::string presence = parameter.required ? "required" : "optional";
    if (width_of(parameter.default_value) > max_cell_width) {
      doc += " Default: " + parameter.default_value + ".";
    } else if (!parameter.default_value.empty()) {
      presence = "default " + parameter.default_value;
    }
    const std::string name = parameter.name == wildcard_key ? "<name>" : parameter.name;
    lines.push_back({{indent + name, kind, parameter.units, presence}, doc});
    add_lines(lines, parameter.members, indent + "  ");
  }
}

std::string described_parameters(std::span<const Parameter> parameters, std::size_t indent) {
  std::vector<Line> lines;
  add_lines(lines, parameters, "");
  std::array<std::size_t, 4> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(line.cells[i]));
  }
  std::size_t doc_column = indent;
  for (const std::size_t width : widths) doc_column += width == 0 ? 0 : width + 2;
  const bool own_line = doc_column + min_doc_width > page_width;
  if (own_line) doc_column = indent + 4;

  std::string text;
  for (const Line& line : lines) {
    std::string row(indent, ' ');
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > 0) row += padded(line.cells[i], widths[i]) + "  ";
    }
    if (own_line) {
      row.erase(row.find_last_not_of(' ') + 1);
      row += '\n';
      row.append(doc_column, ' ');
    }
    row += wrapped(line.doc, doc_column);
    row.erase(row.find_last_not_of(" \n") + 1);
    text += row + "\n";
  }
  return text;
}

std::string optional_text(const Section& section, const std::string& key) {
  return section.has(key) ? section.text(key) : "";
}

// A name and its meaning, with its sentence on lines of its own.
std::string item(const std::string& name, const std::string& what, const std::string& doc) {
  return "  " + wrapped(name + (name.empty() || what.empty() ? "" : ": ") + what, 6) + "\n" +
         (doc.empty() ? "" : paragraphs(doc, 6));
}

std::string summary_of(const std::vector<CatalogueEntry>& entries, const std::string& name) {
  return find_entry(entries, name)->summary;
}

std::string described_paper(const Section& paper) {
  const std::string key = optional_text(paper, "key"), figure = optional_text(paper, "figure");
  if (key.empty() && figure.empty() && !paper.has("note")) return "";
  return "\nPaper\n" + item(key, figure.empty() ? "" : "figure " + figure, optional_text(paper, "note"));
}

std::string described_case(const Section& integrator, const CatalogueSchema& catalogue_schema) {
  const std::string& method = integrator.text("method");
  std::string what = fmt::format("{} on the {} system", method, integrator.text("on"));
  if (integrator.text("on") == "closed") {
    what += fmt::format(" ({})", fmt::join(integrator.texts("environments"), ", "));
  }
  return item(integrator.text("name"), what + ", " + summary_of(catalogue_schema.integrators, method), "");
}

std::string described_claim(const Section& claim) {
  std::string what = claim.text("quantity");
  if (claim.has("minus")) what += " minus " + claim.text("minus");
  if (claim.has("divided_by")) what += " divided by " + claim.text("divided_by");
  if (claim.has("bounds")) {
    what += fmt::format(" in [{}, {}]", claim.numbers("bounds").front(), claim.numbers("bounds").back());
  } else {
    const bool is_relative = claim.has("relative_tolerance");
    what += fmt::format(" = {} +- {}{}", claim.number("expect"),
                        claim.number(is_relative ? "relative_tolerance" : "tolerance"), is_relative ? " of it" : "");
  }
  if (!claim.boolean("supported")) what += ", expected to fail";
  return item(claim.text("name"), what, optional_text(claim, "source"));
}

}  // namespace

std::string value_kind(const Parameter& parameter) {
  const auto words = [&](ValueType type) {
    // With an alternative type, the choices belong to that type.
    const bool has_choices =
        type == ValueType::text || (type == ValueType::integer && parameter.alternative_types.empty());
    return parameter.choices.empty() || !has_choices ? type_words(type) + bound_words(parameter.bound)
                                                     : quoted_choices(parameter);
  };
  std::string kind = words(parameter.type);
  for (const ValueType type : parameter.alternative_types) kind += " | " + words(type);
  return kind;
}

Section default_section(const CatalogueEntry& entry) {
  Mistakes ignored;
  return TomlReader("", ignored).read(toml::table(), entry.parameters, entry.name);
}

std::string describe(const CatalogueEntry& entry, const std::string& category) {
  std::string text = fmt::format("{} ({})\n{}", entry.name, category, paragraphs(entry.summary, 2));
  if (!entry.equation.empty()) text += fmt::format("\n{}", indented(entry.equation, 4));
  text += "\nParameters\n";
  text += entry.parameters.empty() ? "  none\n" : described_parameters(entry.parameters, 2);
  if (!entry.aliases.empty()) text += "\nAliases\n";
  for (const Alias& alias : entry.aliases) {
    std::string settings;
    for (const auto& [key, value] : alias.settings) settings += fmt::format(", with {} = {}", key, value);
    text += fmt::format("  {}{}\n", alias.name, settings);
  }
  if (!entry.notes.empty()) text += "\nNotes\n" + paragraphs(entry.notes, 2);
  if (!entry.source.empty()) text += "\nSource\n" + paragraphs(entry.source, 2);
  return text;
}

std::string describe(const Recipe& recipe, const std::string& name, const CatalogueSchema& catalogue_schema,
                     std::size_t elements) {
  const std::string& study = recipe.study.text("kind");
  std::string text = fmt::format("{} (recipe)\n{}{}", name, paragraphs(recipe.title, 2), described_paper(recipe.paper));
  text += "\nStudy\n" + item(study, summary_of(catalogue_schema.studies, study), "");
  if (elements > 0)
    text += paragraphs(fmt::format("A sweep of {}: see `bathline sweep {}`.",
                                   counted(static_cast<std::int64_t>(elements), "run"), name),
                       6);
  // Studies of measured data have neither system nor integrators.
  if (recipe.has_motion) {
    const std::string& system = recipe.system.text("kind");
    text += "\nSystem\n" + item(system, summary_of(catalogue_schema.systems, system), "");
  }
  if (!recipe.environments.empty()) text += "\nEnvironments\n";
  for (const Section& environment : recipe.environments) {
    const std::string& kind = environment.text("kind");
    text += item(environment.text("name"), kind + ", " + summary_of(catalogue_schema.environments, kind), "");
  }
  if (!recipe.integrators.empty()) text += "\nCases\n";
  for (const Section& integrator : recipe.integrators) text += described_case(integrator, catalogue_schema);
  if (!recipe.claims.empty()) text += "\nClaims\n";
  for (const Section& claim : recipe.claims) text += described_claim(claim);
  return text;
}

std::string describe(const SectionSchema& section) {
  const char* presence = section.repeated ? (section.required ? "one or more" : "any number")
                                          : (section.required ? "required" : "optional");
  std::string text = fmt::format("{} ({})\n{}", section.header(), presence, paragraphs(section.doc, 2));
  if (section.entries != nullptr) {
    text += paragraphs(fmt::format("Further keys depend on `{}`: see `bathline list {}`, `bathline describe NAME`.",
                                   section.chooser, section.catalogue_name),
                       2);
  }
  return text + described_parameters(section.parameters, 2);
}

std::string describe_recipe() {
  std::string text = "recipe\n" + paragraphs("One experiment, written in TOML. Keys and sections in their order:", 2) +
                     "\n" + described_parameters(recipe_keys(), 2);
  for (const SectionSchema& section : recipe_sections()) text += "\n" + describe(section);
  text +=
      "\n[constants] (optional)\n" + paragraphs(
                                         "Numbers by names of your choice, and expressions in them. Wherever a number "
                                         "is wanted, the recipe may give an expression in constants as a text, such as "
                                         "step = \"2*pi/omega/100\". In any other text {omega} becomes the value.",
                                         2);
  text += "\n[for_each] (optional)\n" +
          paragraphs(
              "A key of any table in a list: the table stands for several, which differ by the values of names, as in "
              "[[integrators]] with for_each = { method = [\"yoshida4\", \"suzuki4\"], on = [\"closed\", \"open\"] }, "
              "method = \"{method}\", on = \"{on}\" and name = \"{method}-{on}\": all combinations, the last name "
              "changing fastest. Values that belong together are a table, as in for_each = { case = [{ method = "
              "\"rk4\", order = 4 }, { method = \"verlet\", order = 2 }] }, which gives {method} and {order}. A text "
              "that is {name} alone becomes the value itself, of any type. `bathline resolve` shows what the recipe "
              "stands for; `--set` names the tables that result.",
              2);
  text += "\n[sweep] (optional)\n" +
          paragraphs(
              "Lists of values under dotted keys of the recipe, such as time.step = [0.1, 0.05] or "
              "environments.0.sites = [100, 200]: the recipe stands for one run for every combination, the last key in "
              "alphabetical order changing fastest. The keys of each list in `zip`, such as zip = "
              "[[\"system.particles\", \"environments.1.attach\"]], change together. All runs have the recipe's seed "
              "unless `seed` is swept. See `bathline sweep RECIPE`.",
              2);
  return text;
}

}  // namespace bathline
