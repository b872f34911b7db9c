// Which names the language has. See language_names.cc for where the lists come from.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tc::eval {

bool is_language_name(std::string_view name);
std::vector<std::string> language_names();  // "copy", "float16": anything `T.` may be followed by
std::string language_table();               // docs/language-names.md (language_table.cc)
// A name that other versions export and the release does not, and the row that means the same.
struct OtherName {
  std::string_view name, row;
};
std::span<const OtherName> other_names();
const OtherName* other_name(std::string_view name);
bool is_language_dtype(std::string_view name);  // "float8_e4m3fn"
std::vector<std::string> pass_configs();
bool is_pass_config(std::string_view key);      // "tl.disable_warp_specialized"
// PassConfigKey.TL_DISABLE_WGMMA → "tl.disable_wgmma"; "" if there is none.
std::string pass_config_of_member(std::string_view member);

}  // namespace tc::eval
