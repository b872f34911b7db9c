// NAME.tilecheck.toml: which kernels of NAME.py to look at, with which arguments (schema: evaluate.h). Everything else
// in the file is an error that names its key and line.
#include <toml++/toml.h>

#include <algorithm>

#include "compiler/eval/evaluate.h"

namespace tc::eval {
namespace {

SourceRange place(FileId file, const toml::source_region& r) {
  return {file, r.begin.line, r.begin.column, r.end.line, std::max(r.end.column, r.begin.column + 1)};
}

std::optional<std::vector<int64_t>> parse_integers(const toml::node& node) {
  const toml::array* array = node.as_array();
  if (!array) return std::nullopt;
  std::vector<int64_t> out;
  for (const toml::node& item : *array) {
    auto i = item.value_exact<int64_t>();
    if (!i) return std::nullopt;
    out.push_back(*i);
  }
  return out;
}

Result<std::vector<std::pair<std::string, ArgValue>>> parse_values(FileId file, const toml::node& node,
                                                                   const std::string& key) {
  const toml::table* table = node.as_table();
  if (!table) return input_error(place(file, node.source()), "'" + key + "' has to be a table");
  std::vector<std::pair<std::string, ArgValue>> out;
  for (const auto& [name, value] : *table) {
    std::string text(name.str());
    if (auto i = value.value_exact<int64_t>()) out.emplace_back(text, *i);
    else if (auto b = value.value_exact<bool>()) out.emplace_back(text, *b);
    else if (auto d = value.value_exact<double>()) out.emplace_back(text, *d);
    else if (auto t = value.value_exact<std::string>()) out.emplace_back(text, *t);
    else if (auto l = parse_integers(value)) out.emplace_back(text, *l);
    else
      return input_error(place(file, value.source()),
                         "'" + text + "' has to be a number, a truth value, text or a list of integers");
  }
  return out;
}

// A key that the table has with a value of another kind, or that it does not have.
Diag wrong_key(FileId file, const std::string& key, const toml::node& value, std::string_view table) {
  struct Kind {
    std::string_view key, what;
  };
  static constexpr Kind kKinds[] = {{"name", "text"},
                                    {"instance", "text"},
                                    {"dtypes", "a table"},
                                    {"shapes", "a table"},
                                    {"sm_count", "a positive integer"},
                                    {"keep_found", "a truth value"},
                                    {"kernel", "[[kernel]] tables"}};
  SourceRange where = place(file, value.source());
  if (table.find(key) != std::string_view::npos)
    for (const Kind& k : kKinds)
      if (k.key == key) return input_error(where, "'" + key + "' has to be " + std::string(k.what));
  return input_error(where, std::string(table) + ", not '" + key + "'");
}

std::optional<int64_t> positive(const toml::node& value) {
  auto n = value.value_exact<int64_t>();
  return n && *n > 0 ? n : std::nullopt;
}

Result<KernelRequest> parse_kernel(FileId file, const toml::node& node) {
  KernelRequest request;
  request.where = place(file, node.source());
  const toml::table* table = node.as_table();
  if (!table) return input_error(request.where, "a kernel has to be a table");
  for (const auto& [key, value] : *table) {
    std::string name(key.str());
    if (name == "name" && value.is_string()) {
      request.name = **value.as_string();
    } else if (name == "instance" && value.is_string()) {
      request.instance = **value.as_string();
    } else if (name == "sm_count" && positive(value)) {
      request.sm_count = positive(value);
    } else if (name == "dtypes" && value.is_table()) {
      for (const auto& [tensor, dtype] : *value.as_table()) {
        if (!dtype.is_string())
          return input_error(place(file, dtype.source()),
                             "the dtype of '" + std::string(tensor.str()) + "' has to be text");
        request.dtypes.emplace_back(std::string(tensor.str()), **dtype.as_string());
      }
    } else if (name == "args" || name == "pass_configs") {
      auto values = parse_values(file, value, name);
      if (!values) return values.error();
      (name == "args" ? request.args : request.pass_configs) = std::move(*values);
    } else if (name == "shapes" && value.is_table()) {
      for (const auto& [tensor, shape] : *value.as_table()) {
        auto extents = parse_integers(shape);
        if (!extents)
          return input_error(place(file, shape.source()),
                             "the shape of '" + std::string(tensor.str()) + "' has to be a list of integers");
        request.shapes.emplace_back(std::string(tensor.str()), std::move(*extents));
      }
    } else {
      return wrong_key(file, name, value,
                       "a kernel has name, instance, args, shapes, dtypes, sm_count and pass_configs");
    }
  }
  if (request.name.empty()) return input_error(request.where, "the kernel has no name");
  return request;
}

}  // namespace

Result<Manifest> parse_manifest(FileId file) {
  toml::table manifest;
  try {
    manifest = toml::parse(source_file_text(file));
  } catch (const toml::parse_error& e) {
    return input_error(place(file, e.source()), std::string(e.description()));
  }
  Manifest out;
  for (const auto& [key, value] : manifest) {
    if (key.str() == "sm_count" && positive(value)) {
      out.sm_count = positive(value);
      continue;
    }
    if (key.str() == "keep_found" && value.is_boolean()) {
      out.keep_found = **value.as_boolean();
      continue;
    }
    const toml::array* kernels = value.as_array();
    if (key.str() != "kernel" || !kernels)
      return wrong_key(file, std::string(key.str()), value,
                       "a manifest has sm_count, keep_found and [[kernel]] tables");
    for (const toml::node& node : *kernels) {
      auto request = parse_kernel(file, node);
      if (!request) return request.error();
      for (const KernelRequest& other : out.kernels)
        if (!request->instance.empty() && other.instance == request->instance && other.name == request->name) {
          Diag d = input_error(request->where,
                               "two instances of '" + request->name + "' are called '" + request->instance + "'");
          d.notes.push_back({other.where, "the first"});
          return d;
        }
      out.kernels.push_back(std::move(*request));
    }
  }
  return out;
}

}  // namespace tc::eval
