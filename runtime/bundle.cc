#include "runtime/bundle.h"

#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/npy.h"

namespace tc::runtime {
namespace {

namespace fs = std::filesystem;

Expected<std::string> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path + ": cannot open"};
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

Done write_text(const std::string& path, const std::string& text) {
  std::string temporary = path + ".tmp" + std::to_string(::getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    if (!out.flush()) return Error{path + ": cannot write"};
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return Error{path + ": cannot rename to its final name"};
  return Nothing{};
}

// "key=value" of a word, or nothing.
bool value_of(const std::string& word, std::string_view key, std::string& out) {
  if (word.size() <= key.size() || word.compare(0, key.size(), key) != 0 || word[key.size()] != '=') return false;
  out = word.substr(key.size() + 1);
  return true;
}

template <class T>
bool number(const std::string& s, T& out) {
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc() && end == s.data() + s.size();
}

}  // namespace

std::string print_expected(const std::vector<ExpectedOutput>& list) {
  std::string s;
  char buffer[64];
  for (const ExpectedOutput& e : list) {
    if (!e.digest.empty()) {
      s += e.tensor + " digest=" + e.digest + "\n";
      continue;
    }
    std::snprintf(buffer, sizeof buffer, "%.9g", e.tolerance);
    s += e.tensor + " samples=" + std::to_string(e.samples.size()) + " tolerance=" + buffer + "\n";
    for (auto [index, value] : e.samples) {
      std::snprintf(buffer, sizeof buffer, "%llu %.7g\n", static_cast<unsigned long long>(index), value);
      s += buffer;
    }
  }
  return s;
}

Expected<std::vector<ExpectedOutput>> parse_expected(std::string_view text) {
  std::vector<ExpectedOutput> list;
  std::istringstream in{std::string(text)};
  std::string line;
  int at = 0;
  while (std::getline(in, line)) {
    ++at;
    std::istringstream words(line);
    std::string first, second, third, value;
    if (!(words >> first) || first[0] == '#') continue;
    words >> second >> third;
    ExpectedOutput e;
    e.tensor = first;
    if (value_of(second, "digest", e.digest)) {
      list.push_back(e);
      continue;
    }
    uint64_t count = 0;
    if (!value_of(second, "samples", value) || !number(value, count) || !value_of(third, "tolerance", value) ||
        !number(value, e.tolerance))
      return Error{"expected.txt: malformed line: " + line, at};
    for (uint64_t i = 0; i < count; ++i) {
      std::string index, v;
      uint64_t n = 0;
      double d = 0;
      ++at;
      if (!std::getline(in, line) || !(std::istringstream(line) >> index >> v) || !number(index, n) || !number(v, d))
        return Error{"expected.txt: malformed sample", at};
      e.samples.emplace_back(n, d);
    }
    list.push_back(std::move(e));
  }
  return list;
}

ExpectedOutput expect_bits(const Tensor& tensor) { return {tensor.name, digest(tensor), 0, {}}; }

ExpectedOutput expect_samples(const Tensor& tensor, uint64_t samples, double tolerance) {
  ExpectedOutput e{tensor.name, {}, tolerance, {}};
  uint64_t n = tensor.elements(), count = std::min(samples, n);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = count == n ? i : (i * n / count + (i * 7919) % (n / count));  // spread, not on one column
    e.samples.emplace_back(at, tensor.at(at));
  }
  return e;
}

Comparison compare(const Tensor& got, const ExpectedOutput& want) {
  if (!want.digest.empty()) {
    std::string have = digest(got);
    return {have == want.digest, have == want.digest ? 0.0 : 1.0, "digest " + have};
  }
  double difference = 0, norm = 0;
  for (auto [index, value] : want.samples) {
    if (index >= got.elements()) return {false, 1, "index " + std::to_string(index) + " is outside"};
    double v = got.at(index);
    if (!std::isfinite(v)) return {false, 1, "element " + std::to_string(index) + " is not finite"};
    difference += (v - value) * (v - value);
    norm += value * value;
  }
  double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "relative error %.3g of %zu samples", error, want.samples.size());
  return {error <= want.tolerance, error, buffer};
}

Expected<Bundle> read_bundle(const std::string& folder) {
  Bundle b;
  auto manifest = read_text(folder + "/manifest.txt");
  if (!manifest) return manifest.error();
  auto parsed = parse_manifest(*manifest);
  if (!parsed)
    return Error{folder + "/manifest.txt:" + std::to_string(parsed.error().line) + ": " + parsed.error().message};
  b.manifest = std::move(*parsed);
  auto optional = [&](const char* name, std::string& out) {
    std::string path = folder + "/" + name;
    if (!fs::exists(path)) return true;
    auto text = read_text(path);
    if (text) out = std::move(*text);
    return text.ok();
  };
  if (!optional("kernel.ptx", b.ptx) || !optional("kernel.cubin", b.cubin))
    return Error{folder + ": cannot read the kernel"};
  if (b.ptx.empty() && b.cubin.empty()) return Error{folder + ": neither kernel.ptx nor kernel.cubin"};
  for (const TensorSpec& t : b.manifest.tensors) {
    std::string path = folder + "/inputs/" + t.name + ".npy";
    if (!fs::exists(path)) continue;
    auto tensor = read_npy(path, t.dtype);
    if (!tensor) return Error{path + ": " + tensor.error().message};
    tensor->name = t.name;
    b.given.push_back(std::move(*tensor));
  }
  std::string expected;
  if (!optional("expected.txt", expected)) return Error{folder + ": cannot read expected.txt"};
  auto list = parse_expected(expected);
  if (!list) return list.error();
  b.expected = std::move(*list);
  return b;
}

Done write_bundle(const std::string& folder, const Bundle& b) {
  std::error_code error;
  fs::create_directories(b.given.empty() ? folder : folder + "/inputs", error);
  if (error) return Error{folder + ": " + error.message()};
  if (Done d = write_text(folder + "/manifest.txt", print_manifest(b.manifest)); !d) return d;
  if (!b.ptx.empty())
    if (Done d = write_text(folder + "/kernel.ptx", b.ptx); !d) return d;
  if (!b.cubin.empty())
    if (Done d = write_text(folder + "/kernel.cubin", b.cubin); !d) return d;
  for (const Tensor& t : b.given)
    if (Done d = write_npy(folder + "/inputs/" + t.name + ".npy", t); !d) return d;
  return write_text(folder + "/expected.txt", print_expected(b.expected));
}

}  // namespace tc::runtime
