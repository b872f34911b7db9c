// The nearest of some known names, for messages: edit distance with swaps of neighbours (optimal string alignment).
//   "resuce_max" -> ", did you mean 'reduce_max'?"      at most a third of the letters may differ
#include "compiler/eval/session.h"

namespace tc::eval {
namespace {
constexpr size_t kMaxName = 48;  // longer names get no proposal

size_t distance(std::string_view a, std::string_view b) {
  size_t older[kMaxName + 1], old[kMaxName + 1], now[kMaxName + 1];
  for (size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], older[j - 2] + 1);
    }
    std::copy(old, old + b.size() + 1, older);
    std::copy(now, now + b.size() + 1, old);
  }
  return old[b.size()];
}
}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& names) {
  if (name.size() > kMaxName) return {};
  size_t best = std::max<size_t>(1, name.size() / 3) + 1;
  const std::string* nearest = nullptr;
  for (const std::string& n : names) {
    if (n.size() > kMaxName || n == name) continue;
    size_t d = distance(name, n);
    if (d < best || (d == best && nearest && n < *nearest)) best = d, nearest = &n;
  }
  return nearest ? ", did you mean '" + *nearest + "'?" : std::string();
}

}  // namespace tc::eval
