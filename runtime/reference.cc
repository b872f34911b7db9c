#include "runtime/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace tc::runtime {
namespace {

struct Check {
  std::string name;
  uint64_t m = 0, n = 0, k = 0, s = 0;
  bool a_is_km = false, b_is_kn = false;
};

Check read_check(const std::string& text) {
  Check c;
  std::istringstream in(text);
  in >> c.name;
  for (std::string w; in >> w;) {
    c.a_is_km |= w == "A=km", c.b_is_kn |= w == "B=kn";
    if (w == "A=km" || w == "B=kn") continue;
    const size_t eq = w.find('=');
    const std::string key = eq == w.npos ? "S" : w.substr(0, eq);
    const uint64_t v = std::strtoull(w.c_str() + (eq == w.npos ? 0 : eq + 1), nullptr, 10);
    (key == "M" ? c.m : key == "N" ? c.n : key == "K" ? c.k : c.s) = v;
  }
  return c;
}

Done gemm(const Check& c, const Tensor& a, const Tensor& b, Tensor& out) {
  if (a.elements() < c.m * c.k || b.elements() < c.n * c.k || out.elements() < c.m * c.n)
    return Error{"a tensor is too small for gemm"};
  std::vector<double> x(c.m * c.k), y(c.n * c.k);
  for (uint64_t i = 0; i < x.size(); ++i) x[i] = a.at(i);
  for (uint64_t i = 0; i < y.size(); ++i) y[i] = b.at(i);
  for (uint64_t i = 0; i < c.m; ++i)
    for (uint64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < c.k; ++k)
        sum += x[c.a_is_km ? k * c.m + i : i * c.k + k] * y[c.b_is_kn ? k * c.n + j : j * c.k + k];
      out.set(i * c.n + j, sum);
    }
  return Nothing{};
}

Done attention(const Check& c, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& out) {
  constexpr uint64_t kWidth = 64;
  if (std::min({q.elements(), k.elements(), v.elements(), out.elements()}) < c.s * kWidth)
    return Error{"a tensor is too small for attn"};
  std::vector<double> p(c.s);
  for (uint64_t i = 0; i < c.s; ++i) {
    double top = -INFINITY, sum = 0;
    for (uint64_t j = 0; j < c.s; ++j) {
      p[j] = 0;
      for (uint64_t d = 0; d < kWidth; ++d) p[j] += q.at(i * kWidth + d) * k.at(j * kWidth + d);
      top = std::max(top, p[j] /= 8);
    }
    for (double& x : p) sum += x = std::exp(x - top);
    for (uint64_t d = 0; d < kWidth; ++d) {
      double o = 0;
      for (uint64_t j = 0; j < c.s; ++j) o += p[j] * v.at(j * kWidth + d);
      out.set(i * kWidth + d, o / sum);
    }
  }
  return Nothing{};
}

}  // namespace

Expected<Tensor> expected_output(const Manifest& manifest, const std::vector<Tensor>& tensors,
                                 const std::string& check) {
  const Check c = read_check(check);
  std::vector<const Tensor*> in;
  Tensor out;
  for (size_t i = 0; i < manifest.tensors.size(); ++i) {
    if (manifest.tensors[i].role == Role::in) in.push_back(&tensors[i]);
    else if (manifest.tensors[i].role == Role::out && out.name.empty()) out = tensors[i];
  }
  const size_t needed = c.name == "gemm" ? 2 : c.name == "attn" ? 3 : 1;
  if (in.size() < needed || out.name.empty()) return Error{"check '" + check + "' needs more tensors"};
  Done done = Nothing{};
  if (c.name == "gemm") done = gemm(c, *in[0], *in[1], out);
  else if (c.name == "attn") done = attention(c, *in[0], *in[1], *in[2], out);
  else if (c.name == "copy")
    std::copy_n(in[0]->bytes.begin(), std::min(in[0]->bytes.size(), out.bytes.size()), out.bytes.begin());
  else if (c.name == "sum") {
    double sum = 0;
    for (uint64_t i = 0; i < in[0]->elements(); ++i) sum += in[0]->at(i);
    out.set(0, sum);
  } else if (c.name == "colsum") {
    if (in[0]->elements() < 4096 || out.elements() < 1024) return Error{"a tensor is too small for colsum"};
    for (uint64_t i = 0; i < 1024; ++i) {
      double sum = 0;
      for (uint64_t k = 0; k < 4; ++k) sum += in[0]->at(k * 1024 + i);
      out.set(i, sum);
    }
  } else return Error{"unknown check '" + check + "'"};
  if (!done.ok()) return done.error();
  return out;
}

}  // namespace tc::runtime
