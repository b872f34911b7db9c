// The certificate of a proof: the numbers that the proof found, by name, so that a checker without a solver can put
// them back into the protocol and see that everything holds.
//   tickets and tiles of every event, times with their Farkas multipliers, and the happens-before paths of every
//   ordering question with the constraints under which each is used
// recheck() substitutes only: (a) Farkas, coefficient by coefficient: all trip counts; (b) at all small parameters:
// every counting question, times along the concrete traces and from every arrival to its wait, and for every point of
// every ordering question a listed path that is a chain of concrete steps. That paths cover *all* points is what the
// solver said (its queries can be exported); a number that nothing uses has to be 0.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "verifier/proof/prove.h"

namespace tc::verify {

using Linear = std::vector<std::pair<std::string, int64_t>>;  // {{"1", -1}, {"K", 1}}: K - 1
struct CertificateNum {
  Linear w, k, K;
  bool nested = false;  // w*K + k
};
struct CertificateNode {
  std::string kind;
  int64_t event = -1;  // class
  int64_t warp = -1, lane = -1;
  std::vector<Linear> vec;
  int64_t ring = -1;
  CertificateNum ticket;
};
struct CertificatePath {
  std::vector<CertificateNode> nodes;
  std::vector<Linear> constraints;
};
struct CertificateEvent {
  std::string text;  // for people
  std::optional<CertificateNum> ticket, tile;
  std::vector<int64_t> offsets;  // times: one a symbol, the last the constant
};
struct Certificate {
  std::string protocol;
  std::vector<int64_t> slots;
  std::vector<CertificateEvent> events;
  int64_t flat = 0, outer = 0;
  std::vector<std::string> symbols;
  std::vector<Farkas> dependencies;
  std::vector<std::vector<CertificatePath>> questions;
};

Certificate make_certificate(const Protocol& p, const Proof& proof);
std::string certificate_json(const Certificate& c);
Result<Certificate> parse_certificate(std::string_view json);
// What does not hold; no value: all of it does.
std::optional<std::string> recheck(const Protocol& p, const Certificate& c);
// Lines for people: times, tickets, tiles, and one path.
std::vector<std::string> certificate_text(const Model& m, const Proof& proof);

}  // namespace tc::verify
