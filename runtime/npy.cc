#include "runtime/npy.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tc::runtime {
namespace {

struct NpyType {
  std::string_view descr;
  DType dtype;
};
constexpr std::array kNpyTypes = {
    NpyType{"<f2", DType::f16}, NpyType{"<f4", DType::f32}, NpyType{"<f8", DType::f64}, NpyType{"|i1", DType::i8},
    NpyType{"|u1", DType::u8},  NpyType{"<i2", DType::i16}, NpyType{"<u2", DType::u16}, NpyType{"<i4", DType::i32},
    NpyType{"<u4", DType::u32}, NpyType{"<i8", DType::i64}, NpyType{"<u8", DType::u64},
};

// What stands in the file for a type that NumPy does not have.
DType stored_as(DType t) {
  if (t == DType::bf16) return DType::u16;
  if (t == DType::e4m3 || t == DType::e5m2) return DType::u8;
  return t;
}

std::string_view after(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == text.npos) return {};
  text.remove_prefix(at + key.size());
  while (!text.empty() && (text.front() == ' ' || text.front() == ':')) text.remove_prefix(1);
  return text;
}

bool read_shape(std::string_view text, std::vector<uint64_t>& shape) {
  if (text.empty() || text.front() != '(') return false;
  uint64_t v = 0;
  bool digits = false;
  for (char c : text.substr(1)) {
    if (c >= '0' && c <= '9') v = v * 10 + static_cast<uint64_t>(c - '0'), digits = true;
    else if (c == ',' || c == ')') {
      if (digits) shape.push_back(v);
      v = 0, digits = false;
      if (c == ')') return true;
    } else if (c != ' ') return false;
  }
  return false;
}

}  // namespace

Expected<Tensor> read_npy(const std::string& path, std::optional<DType> as) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path + ": cannot be opened"};
  std::string all((std::istreambuf_iterator<char>(in)), {});
  if (all.size() < 12 || all.compare(0, 6, "\x93NUMPY") != 0) return Error{path + ": is no .npy file"};
  const bool v1 = all[6] == 1;
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(all[i])); };
  const size_t start = v1 ? 10 : 12;
  const size_t length = byte(8) | byte(9) << 8 | (v1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (start + length > all.size()) return Error{path + ": the header is cut off"};
  const std::string_view header = std::string_view(all).substr(start, length);

  Tensor t;
  const std::string_view descr = after(header, "'descr'");
  bool known = false;
  for (const NpyType& n : kNpyTypes)
    if (descr.size() > 5 && descr.substr(1, 3) == n.descr) t.dtype = n.dtype, known = true;
  if (!known) return Error{path + ": unsupported element type " + std::string(descr.substr(0, 8))};
  if (!after(header, "'fortran_order'").starts_with("False")) return Error{path + ": unsupported: Fortran order"};
  if (!read_shape(after(header, "'shape'"), t.shape)) return Error{path + ": cannot read the shape"};
  if (as && stored_as(*as) == t.dtype) t.dtype = *as;
  uint64_t count = row(t.dtype).bytes;
  for (uint64_t d : t.shape) count *= d;
  if (count != all.size() - start - length) return Error{path + ": the data size does not match the shape"};
  t.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(start + length), all.end());
  return t;
}

Done write_npy(const std::string& path, const Tensor& t) {
  std::string_view descr;
  for (const NpyType& n : kNpyTypes)
    if (n.dtype == stored_as(t.dtype)) descr = n.descr;
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (uint64_t d : t.shape) header += std::to_string(d) + ",";
  header += "), }";
  while ((10 + header.size() + 1) % 64) header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  const char prefix[10] = {'\x93',
                           'N',
                           'U',
                           'M',
                           'P',
                           'Y',
                           1,
                           0,
                           static_cast<char>(header.size() & 255),
                           static_cast<char>(header.size() >> 8)};
  out.write(prefix, sizeof prefix);
  out << header;
  out.write(reinterpret_cast<const char*>(t.bytes.data()), static_cast<std::streamsize>(t.bytes.size()));
  if (!out.flush()) return Error{path + ": cannot be written"};
  return Nothing{};
}

}  // namespace tc::runtime
