#include "sim/machine/trace.h"

#include <algorithm>
#include <cstdio>

#include "sim/machine/scheduler.h"

namespace tc::sim {
namespace {

constexpr uint32_t kBulkTrack = 1000, kCpTrack = 1001, kBarrierTrack = 1002, kWgmmaTrack = 1100;  // + warpgroup

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += ' ';
    else out += c;
  }
  return out + "\"";
}

// Nanoseconds as the microseconds of the format.
std::string micro(uint64_t t) {
  char text[40];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(t / 1000),
                static_cast<unsigned>(t % 1000));
  return text;
}

std::string head(const char* phase, std::string_view name, const Cta& c, uint32_t track, uint64_t at) {
  return std::string("{\"ph\":\"") + phase + "\",\"name\":" + quoted(name) + ",\"pid\":" + std::to_string(c.linear_id) +
         ",\"tid\":" + std::to_string(track) + ",\"ts\":" + micro(at);
}

std::string where(const Cta& c, uint32_t place) {
  const SourceRange& r = c.program.places[place].where.front();
  return ",\"args\":{\"line\":" + std::to_string(r.line) + ",\"ptx\":" + quoted(c.program.places[place].text) + "}";
}

// One number for a phase of a barrier, the same at both ends of its flows.
uint64_t flow_id(const Cta& c, uint32_t address, uint64_t phase) {
  return (c.linear_id << 44) ^ (uint64_t{address} << 24) ^ (phase & 0xFFFFFF);
}

std::string wait_name(const Warp& w, const Wait& t) {
  switch (t.kind) {
    case Wait::Kind::none: return "wait";
    case Wait::Kind::mbarrier: return "wait " + w.cta->shared_text(t.address) + " parity " + std::to_string(t.parity);
    case Wait::Kind::named_barrier: return "wait barrier " + std::to_string(t.id);
    case Wait::Kind::lanes:
    case Wait::Kind::sync_lanes: return "wait for lanes";
    case Wait::Kind::cp_async: return "wait cp.async groups";
    case Wait::Kind::bulk: return "wait bulk groups";
    case Wait::Kind::wgmma: return "wait wgmma groups";
    case Wait::Kind::registers: return "wait for registers";
    case Wait::Kind::cluster: return "wait barrier of the cluster";
  }
  return "wait";
}

}  // namespace

void Trace::add(std::string event) {
  if (events_.size() < kMostEvents) events_.push_back(std::move(event));
  else truncated_ = true;
}

void Trace::name_track(const Cta& c, uint32_t track, const std::string& name) {
  const uint64_t key = c.linear_id << 16 | track;
  auto it = std::lower_bound(named_.begin(), named_.end(), key);
  if (it != named_.end() && *it == key) return;
  named_.insert(it, key);
  const std::string ids = ",\"pid\":" + std::to_string(c.linear_id) + ",\"tid\":" + std::to_string(track);
  add("{\"ph\":\"M\",\"name\":\"thread_name\"" + ids + ",\"args\":{\"name\":" + quoted(name) + "}}");
  add("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + std::to_string(c.linear_id) + ",\"args\":{\"name\":\"CTA (" +
      std::to_string(c.id.x) + "," + std::to_string(c.id.y) + "," + std::to_string(c.id.z) + ")\"}}");
}

void Trace::run(const Warp& w, uint32_t place, uint64_t from, uint64_t to) {
  if (to == from) return;
  name_track(*w.cta, w.index, "warp " + std::to_string(w.index));
  add(head("X", "run", *w.cta, w.index, from) + ",\"dur\":" + micro(to - from) + where(*w.cta, place) + "}");
}

void Trace::wait(const Warp& w, const Wait& t, uint64_t from, uint64_t to) {
  name_track(*w.cta, w.index, "warp " + std::to_string(w.index));
  add(head("X", wait_name(w, t), *w.cta, w.index, from) + ",\"dur\":" + micro(to - from) + "}");
  if (t.kind == Wait::Kind::mbarrier)
    add(head("f", "phase", *w.cta, w.index, to) + ",\"cat\":\"mbarrier\",\"bp\":\"e\",\"id\":" +
        std::to_string(flow_id(*w.cta, t.address, t.number)) + "}");
}

void Trace::event(const Warp& w, EventKind kind, uint32_t place, uint64_t at) {
  name_track(*w.cta, w.index, "warp " + std::to_string(w.index));
  add(head("i", name_of(kind), *w.cta, w.index, at) + ",\"s\":\"t\"" + where(*w.cta, place) + "}");
}

void Trace::operation(const AsyncOp& op, uint64_t from, uint64_t to) {
  const Cta& c = *op.cta;
  uint32_t track = kBulkTrack;
  std::string name = "bulk and tensor copies";
  if (op.queue >= kWgmmaQueue) {
    track = kWgmmaTrack + op.queue - kWgmmaQueue;
    name = "wgmma of warpgroup " + std::to_string(op.queue - kWgmmaQueue);
  } else if (op.queue >= kCpQueue) {
    track = kCpTrack, name = "cp.async";
  }
  name_track(c, track, name);
  add(head("X", op.describe(c), c, track, from) + ",\"dur\":" + micro(to - from) + where(c, op.place) + "}");
}

void Trace::phase_completed(const Cta& c, uint32_t address, uint64_t phase, uint64_t at) {
  name_track(c, kBarrierTrack, "mbarrier phases");
  const std::string name = c.shared_text(address) + " phase " + std::to_string(phase);
  add(head("X", name, c, kBarrierTrack, at) + ",\"dur\":0.001}");
  add(head("s", "phase", c, kBarrierTrack, at) + ",\"cat\":\"mbarrier\",\"id\":" +
      std::to_string(flow_id(c, address, phase)) + "}");
}

std::string trace_file(const std::vector<std::vector<std::string>>& clusters, bool truncated) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"1 ns is one warp instruction\",\"truncated\":";
  out += truncated ? "true" : "false";
  out += "},\"traceEvents\":[";
  bool first = true;
  for (const auto& events : clusters)
    for (const std::string& e : events) {
      out += first ? "\n" : ",\n";
      out += e;
      first = false;
    }
  return out + "\n]}\n";
}

}  // namespace tc::sim
