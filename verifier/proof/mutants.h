// Mutation test of the verifier: small edits of right protocols, the mistakes people make. Whatever is proved must
// survive exact runs at every small trip count under many schedules, with every event in the phase of its ticket.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/proof/prove.h"

namespace tc::verify {

struct Mutant {
  std::string what, text;
};
// Each text once, none equal to the original.
std::vector<Mutant> mutants_of(std::string_view text);
// What contradicts the proof; no value: nothing did.
std::optional<std::string> contradiction(const Proof& proof, uint64_t seeds);

}  // namespace tc::verify
