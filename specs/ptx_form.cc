#include "specs/ptx_form.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tc {
namespace {

struct FormRow {
  std::string_view mnemonics, groups, places;
  uint16_t version, sm;
};
constexpr FormRow kForms[] = {
#define PTX_FORM(mnemonics, groups, places, version, sm) {mnemonics, groups, places, version, sm},
#define PTX_WORD(word, version, sm)
#include "specs/ptx_form.def"
#undef PTX_FORM
#undef PTX_WORD
};

struct WordRow {
  std::string_view word;
  uint16_t version, sm;
};
constexpr WordRow kWords[] = {
#define PTX_FORM(mnemonics, groups, places, version, sm)
#define PTX_WORD(word, version, sm) {word, version, sm},
#include "specs/ptx_form.def"
#undef PTX_FORM
#undef PTX_WORD
};

// Calls f with every piece of a text between separators.
template <class F>
void each_piece(std::string_view text, char separator, F f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}
bool among(std::string_view alternatives, std::string_view word) {
  bool found = false;
  each_piece(alternatives, '|', [&](std::string_view a) { found |= a == word; });
  return found;
}

// Words that are types; longest first does not matter, they are compared whole.
constexpr std::string_view kTypeWords[] = {"pred", "b8",  "b16",  "b32",   "b64",   "b128",   "u8",    "u16",  "u32",
                                           "u64",  "s8",  "s16",  "s32",   "s64",   "f16",    "f16x2", "bf16", "bf16x2",
                                           "f32",  "f64", "tf32", "u16x2", "s16x2", "e4m3x2", "e5m2x2",
                                           "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2"};

struct Words {
  std::vector<std::string_view> types, others;
};
Words split(std::string_view modifiers) {
  Words out;
  each_piece(modifiers.substr(std::min<size_t>(1, modifiers.size())), '.', [&](std::string_view w) {
    const bool type = std::find(std::begin(kTypeWords), std::end(kTypeWords), w) != std::end(kTypeWords);
    (type ? out.types : out.others).push_back(w);
  });
  return out;
}

bool fits_places(std::string_view places, const std::vector<std::string_view>& types) {
  size_t at = 0;
  bool good = true;
  each_piece(places, ' ', [&](std::string_view place) {
    good = good && at < types.size() && among(place, types[at]);
    ++at;
  });
  return good && at == types.size();
}

// A group is "a|b|c"; a ? behind its first word makes it optional.
bool in_group(std::string_view group, std::string_view word) {
  bool member = false;
  each_piece(group, '|',
             [&](std::string_view a) { member |= (a.ends_with('?') ? a.substr(0, a.size() - 1) : a) == word; });
  return member;
}
bool in_groups(std::string_view groups, std::string_view word) {
  bool member = false;
  each_piece(groups, ' ', [&](std::string_view group) { member |= in_group(group, word); });
  return member;
}
bool fits_groups(std::string_view groups, std::vector<std::string_view> words) {
  bool good = true;
  each_piece(groups, ' ', [&](std::string_view group) {
    const size_t question = group.find('?');
    const size_t taken = std::erase_if(words, [&](std::string_view w) { return in_group(group, w); });
    good = good && (taken == 1 || (taken == 0 && question != group.npos));
  });
  return good && words.empty();
}

}  // namespace

FormVerdict judge_form(std::string_view mnemonic, std::string_view modifiers) {
  const Words words = split(modifiers);
  FormVerdict out;
  std::vector<std::string_view> unknown = words.others;
  for (const FormRow& row : kForms) {
    if (!among(row.mnemonics, mnemonic)) continue;
    out.has_rows = true;
    std::erase_if(unknown, [&](std::string_view w) { return in_groups(row.groups, w); });
    if (!fits_places(row.places, words.types) || !fits_groups(row.groups, words.others)) continue;
    if (!out.fits || row.sm < out.sm || (row.sm == out.sm && row.version < out.version))
      out.version = row.version, out.sm = row.sm;
    out.fits = true;
  }
  if (out.has_rows && !unknown.empty()) out.unknown = unknown.front();
  for (const WordRow& r : kWords)
    if (out.fits && std::find(words.others.begin(), words.others.end(), r.word) != words.others.end())
      out.version = std::max<uint32_t>(out.version, r.version), out.sm = std::max<uint32_t>(out.sm, r.sm);
  return out;
}

}  // namespace tc
