// Certificate ↔ JSON. A text that is no certificate is an input error.
#include <nlohmann/json.hpp>

#include "verifier/proof/certificate.h"

namespace tc::verify {
namespace {
using Json = nlohmann::ordered_json;

Json to_json(const Linear& l) {
  Json out = Json::object();
  for (const auto& [name, c] : l) out[name] = c;
  return out;
}
Json to_json(const CertificateNum& n) {
  Json out{{"k", to_json(n.k)}};
  if (n.nested) {
    out["w"] = to_json(n.w);
    out["K"] = to_json(n.K);
  }
  return out;
}
Json to_json(const CertificateNode& n) {
  Json out{{"kind", n.kind}};
  if (n.ring >= 0) {
    out["ring"] = n.ring;
    out["ticket"] = to_json(n.ticket);
    return out;
  }
  out["event"] = n.event;
  if (n.warp >= 0) out["thread"] = {n.warp, n.lane};
  Json vec = Json::array();
  for (const Linear& l : n.vec) vec.push_back(to_json(l));
  out["iteration"] = vec;
  return out;
}

Linear linear(const Json& j) {
  Linear out;
  for (const auto& [name, c] : j.items()) out.emplace_back(name, c.get<int64_t>());
  return out;
}
CertificateNum number(const Json& j) {
  CertificateNum n;
  n.k = linear(j.at("k"));
  n.nested = j.contains("w");
  if (n.nested) {
    n.w = linear(j.at("w"));
    n.K = linear(j.at("K"));
  }
  return n;
}
CertificateNode node(const Json& j) {
  CertificateNode n;
  n.kind = j.at("kind");
  if (j.contains("ring")) {
    n.ring = j.at("ring");
    n.ticket = number(j.at("ticket"));
    return n;
  }
  n.event = j.at("event");
  if (j.contains("thread")) {
    n.warp = j.at("thread").at(0);
    n.lane = j.at("thread").at(1);
  }
  for (const Json& l : j.at("iteration")) n.vec.push_back(linear(l));
  return n;
}
Certificate certificate(const Json& j) {
  Certificate c;
  c.protocol = j.at("protocol");
  c.slots = j.at("slots").get<std::vector<int64_t>>();
  for (const Json& e : j.at("events")) {
    CertificateEvent x;
    x.text = e.at("text");
    if (e.contains("ticket")) x.ticket = number(e.at("ticket"));
    if (e.contains("tile")) x.tile = number(e.at("tile"));
    x.offsets = e.at("offsets").get<std::vector<int64_t>>();
    c.events.push_back(std::move(x));
  }
  c.flat = j.at("flat");
  c.outer = j.at("outer");
  c.symbols = j.at("symbols").get<std::vector<std::string>>();
  for (const Json& d : j.at("dependencies"))
    c.dependencies.push_back({d.at("rest"), d.at("multipliers").get<std::vector<int64_t>>()});
  for (const Json& q : j.at("questions")) {
    c.questions.emplace_back();
    for (const Json& p : q) {
      CertificatePath path;
      for (const Json& n : p.at("nodes")) path.nodes.push_back(node(n));
      for (const Json& l : p.at("where")) path.constraints.push_back(linear(l));
      c.questions.back().push_back(std::move(path));
    }
  }
  return c;
}
}  // namespace

std::string certificate_json(const Certificate& c) {
  Json out{{"version", 1},   {"protocol", c.protocol}, {"slots", c.slots},
           {"flat", c.flat}, {"outer", c.outer},       {"symbols", c.symbols}};
  Json events = Json::array(), dependencies = Json::array(), questions = Json::array();
  for (const CertificateEvent& e : c.events) {
    Json x{{"text", e.text}, {"offsets", e.offsets}};
    if (e.ticket) x["ticket"] = to_json(*e.ticket);
    if (e.tile) x["tile"] = to_json(*e.tile);
    events.push_back(std::move(x));
  }
  for (const Farkas& f : c.dependencies) dependencies.push_back({{"rest", f.rest}, {"multipliers", f.multipliers}});
  for (const auto& paths : c.questions) {
    Json q = Json::array();
    for (const CertificatePath& p : paths) {
      Json nodes = Json::array(), where = Json::array();
      for (const CertificateNode& n : p.nodes) nodes.push_back(to_json(n));
      for (const Linear& l : p.constraints) where.push_back(to_json(l));
      q.push_back({{"nodes", nodes}, {"where", where}});
    }
    questions.push_back(std::move(q));
  }
  out["events"] = events;
  out["dependencies"] = dependencies;
  out["questions"] = questions;
  return out.dump(1) + "\n";
}

Result<Certificate> parse_certificate(std::string_view json) {
  Json j = Json::parse(json, nullptr, false);
  if (j.is_discarded()) return input_error({}, "the certificate is no JSON");
  try {
    if (j.at("version") != 1) return input_error({}, "the certificate has another version than 1");
    return certificate(j);
  } catch (const nlohmann::json::exception& x) {
    return input_error({}, std::string("the certificate has the wrong form: ") + x.what());
  }
}

}  // namespace tc::verify
