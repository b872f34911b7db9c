// Does an opcode exist, and from which PTX version and target on? The rows of ptx_form.def.
//   judge_form("add", ".rn.f16x2") -> {known, version 42, sm 53}        judge_form("add", ".rn.rz.f32") -> {unknown
//   form}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tc {

struct FormVerdict {
  bool has_rows = false;  // of this mnemonic; without any its family alone judges
  bool fits = false;      // a row
  std::string unknown;    // a word that is in no row of the mnemonic, "" for none
  uint32_t version = 0;   // of the fitting row that asks least: PTX version x 10, and target
  uint32_t sm = 0;
};
// `modifiers` is what follows the mnemonic: ".rn.ftz.f32".
FormVerdict judge_form(std::string_view mnemonic, std::string_view modifiers);

}  // namespace tc
