#include "runtime/manifest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

namespace tc::runtime {
namespace {

constexpr std::array<std::string_view, 3> kRoles = {"in", "out", "inout"};
constexpr std::array<std::string_view, 5> kFills = {"normal", "ints", "mod3", "zero", "nan"};
constexpr std::array<std::string_view, 4> kSwizzles = {"none", "32B", "64B", "128B"};
constexpr std::array<std::string_view, 2> kOobs = {"zero", "nan"};
constexpr std::array<std::string_view, 4> kL2s = {"none", "64B", "128B", "256B"};
// Names that hand-written files give their outputs.
constexpr std::array<std::string_view, 5> kOutputNames = {"dst", "out", "c", "o", "mc"};
constexpr uint64_t kMaxElements = uint64_t{1} << 40;
constexpr uint32_t kMaxParamBytes = 32764;  // LAUNCH-06
constexpr uint32_t kMapBytes = 128;

template <class Enum, size_t N>
bool read_enum(const std::array<std::string_view, N>& names, std::string_view text, Enum& out) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == text) {
      out = static_cast<Enum>(i);
      return true;
    }
  return false;
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::string_view(" \t\r").find(s.front()) != s.npos) s.remove_prefix(1);
  while (!s.empty() && std::string_view(" \t\r").find(s.back()) != s.npos) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view s, char at) {
  std::vector<std::string_view> out;
  for (size_t start = 0;;) {
    size_t end = s.find(at, start);
    out.push_back(s.substr(start, end - start));
    if (end == s.npos) return out;
    start = end + 1;
  }
}

std::vector<std::string_view> words(std::string_view s) {
  std::vector<std::string_view> out;
  for (std::string_view w : split(s, ' '))
    if (!(w = trim(w)).empty()) out.push_back(w);
  return out;
}

template <class Int>
bool read_int(std::string_view s, Int& out) {
  int base = 10;
  if (s.starts_with("0x")) s.remove_prefix(2), base = 16;
  auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), out, base);
  return ec == std::errc() && end == s.data() + s.size() && !s.empty();
}

template <class Int>
bool read_list(std::string_view s, std::vector<Int>& out) {
  for (std::string_view item : split(s, ',')) {
    Int v{};
    if (!read_int(item, v)) return false;
    out.push_back(v);
  }
  return true;
}

bool read_dim3(std::string_view s, Dim3& out) {
  std::vector<uint32_t> v;
  if (!read_list(s, v) || v.size() > 3) return false;
  v.resize(3, 1);
  out = {v[0], v[1], v[2]};
  return v[0] && v[1] && v[2];
}

// key=value fields of one line; every key must be taken, so a misspelt one is an error.
struct Fields {
  std::map<std::string_view, std::string_view> values;
  std::set<std::string_view> taken;
  std::string error;

  void add(std::string_view word) {
    size_t eq = word.find('=');
    if (eq == word.npos) error = "expected key=value, found '" + std::string(word) + "'";
    else if (!values.emplace(word.substr(0, eq), word.substr(eq + 1)).second)
      error = "'" + std::string(word.substr(0, eq)) + "' is given twice";
  }
  const std::string_view* find(std::string_view key) {
    auto it = values.find(key);
    if (it == values.end()) return nullptr;
    taken.insert(key);
    return &it->second;
  }
  // Reads an optional field through `reader(text) -> bool`; returns whether it was there.
  template <class Reader>
  bool read(std::string_view key, Reader reader) {
    const std::string_view* text = find(key);
    if (text && !reader(*text) && error.empty()) {
      error = "cannot read ";
      error += key, error += "=", error += *text;
    }
    return text != nullptr;
  }
  template <class Reader>
  void require(std::string_view key, Reader reader) {
    if (!read(key, reader) && error.empty()) error = "missing " + std::string(key) + "=";
  }
  std::string finish() const {
    if (!error.empty()) return error;
    for (const auto& [key, value] : values)
      if (!taken.contains(key)) return "unknown field '" + std::string(key) + "'";
    return {};
  }
};

bool is_name(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$')) return false;
  return true;
}

bool read_scalar(DType type, std::string_view text, uint64_t& bits) {
  const DTypeRow& r = row(type);
  const uint64_t mask = r.bytes == 8 ? UINT64_MAX : (uint64_t{1} << (8 * r.bytes)) - 1;
  if (r.is_float && !text.starts_with("0x")) {
    const std::string copy(text);
    char* end = nullptr;
    const double v = std::strtod(copy.c_str(), &end);
    if (copy.empty() || *end != 0) return false;
    bits = 0;
    store_element(type, &bits, v);
    return true;
  }
  if (!r.is_float && r.is_signed && !text.starts_with("0x")) {
    int64_t v = 0;
    if (!read_int(text, v)) return false;
    bits = static_cast<uint64_t>(v) & mask;
    const int shift = 64 - 8 * r.bytes;
    return (static_cast<int64_t>(bits << shift) >> shift) == v;
  }
  return read_int(text, bits) && (bits & ~mask) == 0;
}

std::string print_scalar(const ScalarArg& s) {
  const DTypeRow& r = row(s.dtype);
  char text[64];
  if (!r.is_float) {
    const int shift = 64 - 8 * r.bytes;
    if (r.is_signed) return std::to_string(static_cast<int64_t>(s.bits << shift) >> shift);
    return std::to_string(s.bits);
  }
  std::snprintf(text, sizeof text, "%.17g", load_element(s.dtype, &s.bits));
  uint64_t again = 0;
  if (read_scalar(s.dtype, text, again) && again == s.bits) return text;
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(s.bits));
  return text;
}

class Reader {
 public:
  explicit Reader(Manifest& m) : m_(m) {}
  // Returns "" or what is wrong.
  std::string item(std::string_view line) {
    size_t colon = line.find(':');
    if (colon == line.npos) return "expected 'key: ...'";
    std::string_view key = trim(line.substr(0, colon)), rest = trim(line.substr(colon + 1));
    if (key == "launch") return launch(rest);
    if (key == "tensor") return tensor(rest);
    if (key == "arg") return arg(rest);
    if (key == "part") return part(rest);
    if (key == "arch") return m_.arch = rest, "";
    if (key == "check") return m_.checks.emplace_back(rest), "";
    return "unknown key '" + std::string(key) + "'";
  }

 private:
  std::string launch(std::string_view rest) {
    if (!m_.kernel.empty()) return "a second launch line";
    Fields f;
    for (std::string_view w : words(rest)) f.add(w);
    f.require("kernel", [&](std::string_view s) { return m_.kernel = s, is_name(s); });
    f.require("grid", [&](std::string_view s) { return read_dim3(s, m_.grid); });
    f.require("block", [&](std::string_view s) { return read_dim3(s, m_.block); });
    f.read("cluster", [&](std::string_view s) { return read_dim3(s, m_.cluster); });
    f.read("smem", [&](std::string_view s) { return read_int(s, m_.smem_bytes); });
    return f.finish();
  }

  std::string add_tensor(TensorSpec t) {
    if (m_.tensor_named(t.name)) return "a second tensor named '" + t.name + "'";
    uint64_t n = 1;
    for (uint64_t d : t.shape) {
      if (d != 0 && n > kMaxElements / d) return "tensor '" + t.name + "' is too large";
      n *= d;
    }
    m_.tensors.push_back(std::move(t));
    return {};
  }

  std::string tensor(std::string_view rest) {
    std::vector<std::string_view> w = words(rest);
    TensorSpec t;
    if (w.size() < 2 || !is_name(w[0])) return "expected 'tensor: NAME DTYPE shape=...'";
    std::optional<DType> type = dtype_named(w[1]);
    if (!type) return "unknown dtype '" + std::string(w[1]) + "'";
    t.name = w[0], t.dtype = *type;
    Fields f;
    for (size_t i = 2; i < w.size(); ++i) f.add(w[i]);
    f.require("shape", [&](std::string_view s) { return read_list(s, t.shape); });
    f.read("role", [&](std::string_view s) { return read_enum(kRoles, s, t.role); });
    t.fill = t.role == Role::in ? Fill::ints : Fill::nan;
    f.read("fill", [&](std::string_view s) { return read_enum(kFills, s, t.fill); });
    f.read("seed", [&](std::string_view s) { return read_int(s, t.seed); });
    std::string error = f.finish();
    return error.empty() ? add_tensor(std::move(t)) : error;
  }

  // The tensor that a short form declares.
  std::string add_short_tensor(std::string_view name, DType type, std::vector<uint64_t> shape, Fields& f) {
    TensorSpec t;
    t.name = name, t.dtype = type, t.shape = std::move(shape);
    for (std::string_view out : kOutputNames)
      if (out == name) t.role = Role::out, t.fill = Fill::zero;
    f.read("values", [&](std::string_view s) { return read_enum(kFills, s, t.fill); });
    if (t.role == Role::in && t.fill == Fill::zero) t.role = Role::inout;
    f.read("role", [&](std::string_view s) { return read_enum(kRoles, s, t.role); });
    f.read("seed", [&](std::string_view s) { return read_int(s, t.seed); });
    return add_tensor(std::move(t));
  }

  std::string arg(std::string_view rest) {
    std::vector<std::string_view> w = words(rest);
    if (w.size() < 3 || !is_name(w[0])) return "expected 'arg: NAME KIND ...'";
    for (const Param& p : m_.params)
      if (p.name == w[0]) return "a second arg named '" + p.name + "'";
    if (w[1] == "buffer") return buffer(w);
    if (w[1] == "tensormap" || w[1] == "tensormap_ptr") return tensormap(w);
    if (w[1] == "struct") return structure(w);
    std::optional<DType> type = dtype_named(w[1]);
    if (!type) return "unknown kind '" + std::string(w[1]) + "'";
    ScalarArg s{*type, 0};
    if (w.size() != 3 || !read_scalar(*type, w[2], s.bits))
      return "cannot read the value of '" + std::string(w[0]) + "'";
    m_.params.push_back({std::string(w[0]), s});
    return {};
  }

  std::string structure(const std::vector<std::string_view>& w) {
    StructArg s;
    uint32_t bytes = 0;
    if (!read_int(w[2], bytes) || bytes == 0 || bytes > kMaxParamBytes) return "expected the size of the structure";
    s.bytes.resize(bytes);
    Fields f;
    for (size_t i = 3; i < w.size(); ++i) f.add(w[i]);
    f.read("data", [&](std::string_view hex) {
      if (hex.size() != 2 * s.bytes.size()) return false;
      for (size_t i = 0; i < s.bytes.size(); ++i) {
        const auto end = hex.data() + 2 * i + 2;
        if (auto [p, ec] = std::from_chars(end - 2, end, s.bytes[i], 16); ec != std::errc() || p != end) return false;
      }
      return true;
    });
    if (std::string error = f.finish(); !error.empty()) return error;
    m_.params.push_back({std::string(w[0]), std::move(s)});
    return {};
  }

  // Read as an argument of its own, then moved into its structure.
  std::string part(std::string_view rest) {
    const std::vector<std::string_view> w = words(rest);
    uint32_t offset = 0;
    if (w.size() < 4 || !read_int(w[1], offset)) return "expected 'part: STRUCT OFFSET KIND ...'";
    const std::string owner(w[0]);
    auto find = [&]() -> StructArg* {
      for (Param& p : m_.params)
        if (p.name == owner) return std::get_if<StructArg>(&p.value);
      return nullptr;
    };
    if (!find()) return "no structure '" + owner + "'";
    const auto kind = static_cast<size_t>(w[2].data() - rest.data());
    if (std::string error = arg("part " + std::string(rest.substr(kind))); !error.empty()) return error;
    Param p = std::move(m_.params.back());
    m_.params.pop_back();
    StructArg& s = *find();
    StructArg::Part out{offset, {}};
    uint32_t bytes = 8;
    if (auto* v = std::get_if<ScalarArg>(&p.value)) bytes = row(v->dtype).bytes, out.value = *v;
    else if (auto* v = std::get_if<BufferArg>(&p.value)) out.value = *v;
    else if (auto* v = std::get_if<TensorMapArg>(&p.value)) bytes = v->by_pointer ? 8 : kMapBytes, out.value = *v;
    else return "a structure cannot be part of another";
    if (offset > s.bytes.size() || bytes > s.bytes.size() - offset) return "the part lies outside of '" + owner + "'";
    s.parts.push_back(std::move(out));
    return {};
  }

  std::string buffer(const std::vector<std::string_view>& w) {
    BufferArg b;
    Fields f;
    std::string error;
    if (std::optional<DType> type = dtype_named(w[2])) {  // the short form
      uint64_t count = 0;
      if (w.size() < 4 || !read_int(w[3], count)) return "expected an element count";
      for (size_t i = 4; i < w.size(); ++i) f.add(w[i]);
      b.tensor = w[0];
      error = add_short_tensor(w[0], *type, {count}, f);
    } else {
      for (size_t i = 2; i < w.size(); ++i) f.add(w[i]);
      f.require("of", [&](std::string_view s) { return b.tensor = s, m_.tensor_named(s) != nullptr; });
      f.read("offset", [&](std::string_view s) { return read_int(s, b.offset_bytes); });
    }
    if (error.empty()) error = f.finish();
    if (!error.empty()) return error;
    if (b.offset_bytes > m_.tensor_named(b.tensor)->bytes()) return "offset= is behind the end of " + b.tensor;
    m_.params.push_back({std::string(w[0]), b});
    return {};
  }

  std::string tensormap(const std::vector<std::string_view>& w) {
    TensorMapArg t;
    std::optional<DType> type = dtype_named(w[2]);
    if (!type) return "unknown dtype '" + std::string(w[2]) + "'";
    t.dtype = *type;
    t.by_pointer = w[1] == "tensormap_ptr";
    Fields f;
    for (size_t i = 3; i < w.size(); ++i) f.add(w[i]);
    f.require("dims", [&](std::string_view s) { return read_list(s, t.dims); });
    f.read("strides", [&](std::string_view s) { return s.empty() || read_list(s, t.strides_bytes); });
    f.read("box", [&](std::string_view s) { return read_list(s, t.box); });
    f.read("lower", [&](std::string_view s) { return read_list(s, t.lower); });
    f.read("upper", [&](std::string_view s) { return read_list(s, t.upper); });
    f.read("channels", [&](std::string_view s) { return read_int(s, t.channels); });
    f.read("pixels", [&](std::string_view s) { return read_int(s, t.pixels); });
    f.read("estrides", [&](std::string_view s) { return read_list(s, t.element_strides); });
    f.read("swizzle", [&](std::string_view s) { return read_enum(kSwizzles, s, t.swizzle); });
    f.read("oob", [&](std::string_view s) { return read_enum(kOobs, s, t.oob); });
    f.read("l2", [&](std::string_view s) { return read_enum(kL2s, s, t.l2); });
    f.read("interleave", [&](std::string_view s) { return s == "none"; });
    f.read("offset", [&](std::string_view s) { return read_int(s, t.offset_bytes); });
    const bool has_of = f.read("of", [&](std::string_view s) { return t.tensor = s, m_.tensor_named(s) != nullptr; });
    if (t.element_strides.empty()) t.element_strides.assign(t.dims.size(), 1);
    if (t.pixels && (!t.box.empty() || t.dims.size() < 3 || t.lower.size() + 2 != t.dims.size() ||
                     t.upper.size() != t.lower.size()))
      return "an im2col map has channels and pixels in place of box, lower and upper of two entries fewer than dims";
    if ((!t.pixels && t.box.size() != t.dims.size()) || t.element_strides.size() != t.dims.size() ||
        t.strides_bytes.size() + 1 != t.dims.size())
      return "dims, box and estrides need one entry a dimension, strides one fewer";
    std::string error;
    if (!has_of) {  // its own tensor, as large as the map reaches
      t.tensor = w[0];
      error = add_short_tensor(w[0], *type, backing_shape(t), f);
    }
    if (error.empty()) error = f.finish();
    if (!error.empty()) return error;
    m_.params.push_back({std::string(w[0]), std::move(t)});
    return {};
  }

  // Row-major shape of a dense tensor below the map; one flat dimension where the strides are not dense.
  static std::vector<uint64_t> backing_shape(const TensorMapArg& t) {
    const uint64_t element = row(t.dtype).bytes;
    uint64_t dense = element, reach = element * t.dims[0];
    bool is_dense = true;
    for (size_t i = 0; i + 1 < t.dims.size(); ++i) {
      dense *= t.dims[i];
      is_dense &= dense == t.strides_bytes[i];
      reach += t.dims[i + 1] ? (t.dims[i + 1] - 1) * t.strides_bytes[i] : 0;
    }
    if (is_dense) return {t.dims.rbegin(), t.dims.rend()};
    return {(reach + element - 1) / element};
  }

  Manifest& m_;
};

template <class T>
std::string join(const std::vector<T>& v) {
  std::string out;
  for (size_t i = 0; i < v.size(); ++i) out += (i ? "," : "") + std::to_string(v[i]);
  return out;
}

std::string dim3_text(const Dim3& d) {
  std::string out = std::to_string(d.x);
  if (d.y != 1 || d.z != 1) out += "," + std::to_string(d.y);
  if (d.z != 1) out += "," + std::to_string(d.z);
  return out;
}

std::string offset_text(uint64_t bytes) { return bytes ? " offset=" + std::to_string(bytes) : std::string(); }
std::string value_text(const ScalarArg& s) { return std::string(row(s.dtype).name) + " " + print_scalar(s); }
std::string value_text(const BufferArg& b) { return "buffer of=" + b.tensor + offset_text(b.offset_bytes); }
std::string value_text(const TensorMapArg& t) {
  std::string out = t.by_pointer ? "tensormap_ptr " : "tensormap ";
  out.append(row(t.dtype).name);
  out += " dims=" + join(t.dims);
  if (!t.strides_bytes.empty()) out += " strides=" + join(t.strides_bytes);
  if (t.pixels == 0) out += " box=" + join(t.box);
  else
    out += " lower=" + join(t.lower) + " upper=" + join(t.upper) + " channels=" + std::to_string(t.channels) +
           " pixels=" + std::to_string(t.pixels);
  if (t.element_strides != std::vector<uint32_t>(t.dims.size(), 1)) out += " estrides=" + join(t.element_strides);
  out.append(" swizzle=").append(name_of(t.swizzle));
  if (t.oob != OobFill::zero) out.append(" oob=").append(kOobs[static_cast<size_t>(t.oob)]);
  if (t.l2 != L2Promotion::none) out.append(" l2=").append(kL2s[static_cast<size_t>(t.l2)]);
  return out + " of=" + t.tensor + offset_text(t.offset_bytes);
}
std::string value_text(const StructArg& s) {
  std::string out = "struct " + std::to_string(s.bytes.size());
  if (std::all_of(s.bytes.begin(), s.bytes.end(), [](uint8_t b) { return b == 0; })) return out;
  out += " data=";
  constexpr char kDigits[] = "0123456789abcdef";
  for (uint8_t b : s.bytes) out += {kDigits[b >> 4], kDigits[b & 15]};
  return out;
}

std::string param_text(const Param& p) {
  std::string out = "arg: " + p.name + " " + std::visit([](const auto& v) { return value_text(v); }, p.value);
  if (auto* s = std::get_if<StructArg>(&p.value))
    for (const StructArg::Part& part : s->parts)
      out += "\npart: " + p.name + " " + std::to_string(part.offset) + " " +
             std::visit([](const auto& v) { return value_text(v); }, part.value);
  return out;
}

enum class Form { plain, header };

// The head of a source file: comments, blank lines, and directives of the preprocessor.
bool may_be_in_header(std::string_view line) { return line.empty() || line.starts_with("//") || line.starts_with('#'); }

// Calls visit(line number, item text) for each item line; stops at the first non-empty answer.
template <class Visit>
Expected<Manifest> read_lines(std::string_view text, Form form, Visit visit) {
  Manifest m;
  Reader reader(m);
  int number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty()) continue;
    const bool comment = line.starts_with("//");
    if (form == Form::header && !may_be_in_header(line)) break;
    if (comment) line = trim(line.substr(2));
    else if (form == Form::header) continue;
    if (!visit(line, comment)) continue;
    if (std::string error = reader.item(line); !error.empty()) return Error{error, number};
  }
  if (m.kernel.empty()) return Error{"no launch: line", 0};
  return m;
}

bool is_item(std::string_view line) {
  for (std::string_view key : {"launch:", "tensor:", "arg:", "part:", "arch:", "check:"})
    if (line.starts_with(key)) return true;
  return false;
}

}  // namespace

std::string_view name_of(Swizzle s) { return kSwizzles[static_cast<size_t>(s)]; }
std::string_view name_of(Fill f) { return kFills[static_cast<size_t>(f)]; }
std::string_view name_of(Role r) { return kRoles[static_cast<size_t>(r)]; }

uint64_t TensorSpec::elements() const {
  uint64_t n = 1;
  for (uint64_t d : shape) n *= d;
  return n;
}

const TensorSpec* Manifest::tensor_named(std::string_view name) const {
  for (const TensorSpec& t : tensors)
    if (t.name == name) return &t;
  return nullptr;
}

Expected<Manifest> parse_manifest(std::string_view text) {
  return read_lines(text, Form::plain,
                    [](std::string_view line, bool comment) { return comment ? is_item(line) : line.front() != '#'; });
}

Expected<Manifest> parse_manifest_header(std::string_view text) {
  return read_lines(text, Form::header, [](std::string_view line, bool) { return is_item(line); });
}

bool has_manifest_header(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (!may_be_in_header(line)) return false;
    if (line.starts_with("//") && trim(line.substr(2)).starts_with("launch:")) return true;
  }
  return false;
}

Done add_manifest_item(Manifest& manifest, std::string_view item) {
  std::string error = Reader(manifest).item(item);
  if (!error.empty()) return Error{error, 0};
  return Nothing{};
}

std::string print_manifest(const Manifest& m) {
  std::string out;
  if (!m.arch.empty()) out += "arch: " + m.arch + "\n";
  out += "launch: kernel=" + m.kernel + " grid=" + dim3_text(m.grid) + " block=" + dim3_text(m.block) +
         " cluster=" + dim3_text(m.cluster) + " smem=" + std::to_string(m.smem_bytes) + "\n";
  for (const TensorSpec& t : m.tensors) {
    out.append("tensor: " + t.name + " ").append(row(t.dtype).name).append(" shape=" + join(t.shape) + " role=");
    out.append(name_of(t.role)).append(" fill=").append(name_of(t.fill));
    if (t.seed) out += " seed=" + std::to_string(t.seed);
    out += "\n";
  }
  for (const Param& p : m.params) out += param_text(p) + "\n";
  for (const std::string& c : m.checks) out += "check: " + c + "\n";
  return out;
}

std::string print_manifest_header(const Manifest& m) {
  std::string out;
  std::string text = print_manifest(m);
  text.pop_back();
  for (std::string_view line : split(text, '\n')) out.append("// ").append(line).append("\n");
  return out;
}

}  // namespace tc::runtime
