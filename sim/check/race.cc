#include "sim/check/race.h"

#include <algorithm>
#include <bit>

#include "sim/check/grid.h"

namespace tc::sim {
namespace {

constexpr size_t kMaxReports = 64;
constexpr size_t kSpareMemories = 4;

template <class Visit>
void each_lane(uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1) visit(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// Memories are used again by the thread that runs one cluster after the other.
thread_local std::vector<std::unique_ptr<Memory>> spare;
std::unique_ptr<Memory> take_memory(uint32_t most_readers) {
  std::unique_ptr<Memory> m;
  if (spare.empty()) m = std::make_unique<Memory>();
  else m = std::move(spare.back()), spare.pop_back();
  m->most_readers = most_readers;
  return m;
}
void give_back(std::unique_ptr<Memory> m) {
  if (!m || spare.size() >= kSpareMemories) return;
  m->clear();
  spare.push_back(std::move(m));
}

// Lanes 0 ... P-1 lie one behind the other, and the others repeat them: P, 0 where it is not so.
template <class Address>
uint32_t stripe_period(const Address* address, uint32_t bytes) {
  if (address[0] % 4) return 0;
  uint32_t period = 32;
  while (bytes >= 4 && period > 1 && address[period / 2] == address[0]) period /= 2;
  uint64_t off = 0;
  for (uint32_t l = 0; l < 32; ++l) off |= address[l] ^ (address[0] + (l & (period - 1)) * bytes);
  return off == 0 ? period : 0;
}

// The lanes of `among` with the address of lane l.
template <class Address>
uint32_t equal_lanes(const Address* address, uint32_t l, uint32_t among) {
  uint32_t out = 0;
  for (uint32_t k = 0; k < 32; ++k) out |= address[k] == address[l] ? 1u << k : 0;
  return out & among;
}

}  // namespace

RaceChecker::RaceChecker(uint32_t warps, uint32_t warps_per_cta, uint32_t lanes_of_last, GridRaces* grid,
                         uint32_t cluster)
    : warps_(warps),
      warps_per_cta_(std::min(warps, warps_per_cta)),
      cluster_(cluster),
      next_slot_(2 * warps),
      grid_(grid),
      states_(warps) {
  shared_memory_ = take_memory(UINT32_MAX);
  if (grid && grid->together()) {
    global_memory_ = &grid->memory_, published_ = &grid->published_;
  } else {
    own_global_ = take_memory(kMostReaders);
    global_memory_ = own_global_.get(), published_ = &own_published_;
  }
  const Shared<Part> nothing = Shared<Part>::make();
  for (uint32_t w = 0; w < warps; ++w) {
    states_[w].clock.cluster = cluster, states_[w].clock.part = nothing;
    if (w % warps_per_cta == warps_per_cta - 1) states_[w].absent = states_[w].gone = ~lanes_of_last;
  }
}

RaceChecker::~RaceChecker() {
  give_back(std::move(shared_memory_));
  give_back(std::move(own_global_));
}

// ---------------------------------------------------------------- accesses

View RaceChecker::view(uint32_t agent, uint32_t lane) const {
  const WarpState& w = states_[agent];
  const Clock& c = clock_of(w, lane);
  return {&c, c.part.get(), cluster_, agent, warps_ + agent, w.copies ? (*w.copies)[lane] : 0};
}

template <class Address>
void RaceChecker::touch(Memory& m, uint32_t agent, uint32_t lanes, const Address* address, uint32_t bytes, Access kind,
                        uint32_t place, About about, Scope scope) {
  const WarpState& w = states_[agent];
  View v = view(agent, static_cast<uint32_t>(std::countr_zero(lanes)));
  looking_ = &v, looking_at_global_ = &m == global_memory_;
  Toucher t(m, v, {cluster_, agent, w.epoch, place, kind, false, about == About::undefined, scope, home_of(agent).cta}, *this);
  if (about == About::watched) t.watch_written();
  const bool alike =
      !w.lanes && (!w.copies || std::ranges::all_of(*w.copies, [&](uint32_t n) { return n == w.copies->front(); }));
  const uint32_t period = alike && lanes == ~0u ? stripe_period(address, bytes) : 0;
  if (period) {
    t.striped(address[0], bytes, period);
  } else {
    for (uint32_t left = lanes; left;) {
      const auto l = static_cast<uint32_t>(std::countr_zero(left));
      uint32_t group = 1u << l;
      if (alike) group = equal_lanes(address, l, left);
      else v = view(agent, l), t.look_from(v);
      t.range(address[l], bytes, group);
      left &= ~group;
    }
  }
  looking_ = nullptr;
}

void RaceChecker::shared(uint32_t agent, uint32_t lanes, const uint32_t* address, uint32_t bytes, Access kind,
                         uint32_t place, About about, Scope scope) {
  undefined_writes_ |= about == About::undefined;
  touch(*shared_memory_, agent, lanes, address, bytes, kind, place, about, scope);
}

uint32_t RaceChecker::undefined(uint32_t lanes, const uint32_t* address, uint32_t bytes) {
  uint32_t out = 0;
  each_lane(lanes, [&](uint32_t l) { out |= shared_memory_->has_value(address[l], bytes) ? 0 : 1u << l; });
  return out;
}

bool RaceChecker::all_undefined(std::span<const uint32_t> addresses, uint32_t bytes) {
  return std::ranges::none_of(addresses, [&](uint32_t a) { return shared_memory_->has_value(a, bytes); });
}

void RaceChecker::global(uint32_t agent, uint32_t lanes, const uint64_t* address, uint32_t bytes, Access kind,
                         uint32_t place, Scope scope) {
  touch(*global_memory_, agent, lanes, address, bytes, kind, place, About::nothing, scope);
}

void RaceChecker::touch_range(Memory& m, const View& v, const Touch& event, uint64_t address, uint64_t bytes,
                              uint32_t lanes) {
  looking_ = &v, looking_at_global_ = &m == global_memory_;
  Toucher(m, v, event, *this).range(address, bytes, lanes);
  looking_ = nullptr;
}

void RaceChecker::cp_async(uint32_t agent, uint32_t lane, uint32_t address, uint32_t bytes, uint32_t group,
                           uint32_t place) {
  touch_range(*shared_memory_, view(agent, lane), {cluster_, warps_ + agent, group, place, Access::write},
              address, bytes, 1u << lane);
}

void RaceChecker::async(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch, uint32_t address, uint32_t bytes,
                        Access kind, uint32_t place) {
  touch_range(*shared_memory_, view(agent, lane), {cluster_, slot, epoch, place, kind, true}, address, bytes, 1);
}

void RaceChecker::async_global(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch, uint64_t address,
                               uint64_t bytes, Access kind, uint32_t place) {
  touch_range(*global_memory_, view(agent, lane), {cluster_, slot, epoch, place, kind, true}, address, bytes, 1);
}

void RaceChecker::async(const Clock& start, uint32_t slot, uint32_t epoch, std::span<const uint32_t> addresses,
                        uint32_t bytes, Access kind, uint32_t place) {
  View v;
  v.clock = &start, v.part = start.part.get(), v.cluster = cluster_;
  looking_ = &v, looking_at_global_ = false;
  Toucher t(*shared_memory_, v, {cluster_, slot, epoch, place, kind, true}, *this);
  for (uint32_t a : addresses) t.range(a, bytes, 1);
  looking_ = nullptr;
}

// ---------------------------------------------------------------- other CTAs

void RaceChecker::use(const RemoteUse& u, const Clock& clock) {
  bool started = false;
  for (uint32_t w = u.rank * warps_per_cta_; w < (u.rank + 1) * warps_per_cta_; ++w)
    for (uint32_t l = 0; l < 32 && !started; ++l) started = clock.part && clock.part->known.of(w, l) > 0;
  if (!started) race({.rule = "CLUST-07", .word = u.rank, .now = {cluster_, u.row, u.epoch, u.place}, .before = {}});
  for (RemoteUse& o : remote_uses_)
    if (o.rank == u.rank && o.row == u.row && o.place == u.place) {
      o.lanes = o.epoch == u.epoch ? o.lanes | u.lanes : u.lanes;
      o.epoch = u.epoch;
      return;
    }
  remote_uses_.push_back(u);
}

void RaceChecker::remote(uint32_t agent, uint32_t lanes, uint32_t rank, uint32_t place) {
  const WarpState& w = states_[agent];
  use({rank, agent, lanes, w.epoch, place}, clock_of(w, static_cast<uint32_t>(std::countr_zero(lanes))));
}

void RaceChecker::remote_async(uint32_t agent, uint32_t lane, uint32_t rank, uint32_t slot, uint32_t epoch,
                               uint32_t place) {
  use({rank, slot, 1, epoch, place}, clock_of(states_[agent], lane));
}

void RaceChecker::check_lifetimes() {
  for (uint32_t rank = 0; rank < warps_ / warps_per_cta_ && !remote_uses_.empty(); ++rank) {
    Clock end;
    for (uint32_t w = rank * warps_per_cta_; w < (rank + 1) * warps_per_cta_; ++w) snapshot_into(end, w, ~0u);
    for (const RemoteUse& u : remote_uses_) {
      if (u.rank != rank) continue;
      bool known = true;
      for (uint32_t l = 0; l < 32; ++l)
        known &=
            !(u.lanes >> l & 1) || std::max(end.part->known.of(u.row, l), end.part->passed.of(u.row, l)) >= u.epoch;
      if (!known)
        race({.rule = "CLUST-07", .word = rank, .now = {cluster_, u.row, u.epoch, u.place}, .before = {.epoch = 1}});
    }
  }
}

// ---------------------------------------------------------------- reports

// Where the warps of an unfinished wgmma gave away what it reads: the last release that the other side has seen.
uint32_t RaceChecker::given_away_at(const Touch& operation) const {
  if (operation.cluster != cluster_ || operation.row < 2 * warps_ || !looking_ || !looking_->part) return UINT32_MAX;
  const uint32_t agent = wgmma_agents_[operation.row - 2 * warps_];
  if (agent == View::kNoRow) return UINT32_MAX;
  for (uint32_t w = agent; w < std::min(agent + 4, warps_); ++w) {
    uint32_t known = 0;
    for (uint32_t l = 0; l < 32; ++l) known = std::max(known, looking_->part->known.of(w, l));
    const auto& places = states_[w].released_at;
    for (size_t e = std::min<size_t>(known + 1, places.size()); e-- > 0;)
      if (places[e] != UINT32_MAX) return places[e];
  }
  return UINT32_MAX;
}

void RaceChecker::race(const RaceReport& report) {
  RaceReport r = report;
  r.global = looking_ && looking_at_global_;
  if (r.global) r.rule = r.rule == "FENCE-01" ? "FENCE-06" : r.rule == "RACE-01" ? "RACE-02" : r.rule;
  for (const RaceReport& o : reports_)
    if (r.now.place == o.now.place && r.before.place == o.before.place && r.rule == o.rule) return;
  if (reports_.size() >= kMaxReports) return;
  if (r.rule == "RACE-01" && r.before.async && r.before.kind == Access::read)
    r.released_place = given_away_at(r.before);
  for (const ScopeMiss& m : scope_misses_)
    if (r.narrow && (m.to_cta == r.now.cta || m.to_cta == View::kNoRow)) r.scope_place = m.place, r.scope = m.scope;
  reports_.push_back(r);
}

// ---------------------------------------------------------------- order

uint32_t RaceChecker::new_slot(uint32_t wgmma_agent) {
  wgmma_agents_.push_back(wgmma_agent);
  return next_slot_++;
}

uint32_t RaceChecker::new_ticket() {
  tickets_.push_back(new_slot());
  return tickets_.back();
}

void RaceChecker::pass_tickets(Clock& into, uint32_t agent, uint32_t lane) const {
  const Clock& c = clock_of(states_[agent], lane);
  for (uint32_t row : tickets_) raise(&Part::known, into, row, ~0u, c.part->known.floor(row));
}

bool RaceChecker::some_know(uint32_t agent, uint32_t lanes, uint32_t row, uint32_t epoch) const {
  const WarpState& w = states_[agent];
  if (!w.lanes) return w.clock.part->known.floor(row) >= epoch;
  bool any = false;
  each_lane(lanes, [&](uint32_t l) { any |= (*w.lanes)[l].part->known.floor(row) >= epoch; });
  return any;
}

void RaceChecker::acquire_tickets(uint32_t agent, const Clock& clock) {
  if (!clock.part) return;
  Clock only;
  for (uint32_t row : tickets_) raise(&Part::known, only, row, ~0u, clock.part->known.floor(row));
  acquire(agent, ~0u, only);
}

uint32_t RaceChecker::number_event(uint32_t agent) {
  if (states_[agent].ticket == 0) states_[agent].ticket = new_ticket();
  WarpState& w = states_[agent];
  learn(agent, ~0u, w.ticket, ++w.events);
  return w.events;
}

bool RaceChecker::is_after(const Clock& clock, uint32_t agent, uint32_t event) const {
  const Part* p = clock.about(cluster_);
  return p && p->known.floor(states_[agent].ticket) >= event;
}

void RaceChecker::raise(Knowledge Part::*what, Clock& clock, uint32_t row, uint32_t lanes, uint32_t epoch) const {
  if (epoch == 0) return;
  if (clock.cluster == Clock::kNoCluster) clock.cluster = cluster_;
  if (clock.cluster == cluster_) {
    if (clock.part && (clock.part.get()->*what).floor(row) >= epoch) return;
    (clock.part.own().*what).raise(row, lanes, epoch);
    return;
  }
  Clock more;
  more.cluster = cluster_;
  (more.part.own().*what).raise(row, lanes, epoch);
  join(clock, more);
}

void RaceChecker::snapshot_into(Clock& into, uint32_t agent, uint32_t lanes) const {
  const WarpState& w = states_[agent];
  if (!w.lanes) join(into, w.clock);
  else each_lane(lanes, [&](uint32_t l) { join(into, (*w.lanes)[l]); });
  raise(&Part::known, into, agent, lanes | w.absent, w.epoch);
  if (w.copies)
    each_lane(lanes, [&](uint32_t l) { raise(&Part::known, into, warps_ + agent, 1u << l, (*w.copies)[l]); });
}

Clock RaceChecker::snapshot(uint32_t agent, uint32_t lanes) const {
  Clock c;
  snapshot_into(c, agent, lanes);
  return c;
}

void RaceChecker::released(uint32_t agent, uint32_t place) {
  WarpState& w = states_[agent];
  if (place != UINT32_MAX) {
    w.released_at.resize(w.epoch + 1, UINT32_MAX);
    w.released_at[w.epoch] = place;
  }
  ++w.epoch;
}

void RaceChecker::split(WarpState& w) const {
  w.lanes = std::make_unique<std::array<Clock, 32>>();
  w.lanes->fill(w.clock);
}

void RaceChecker::acquire(uint32_t agent, uint32_t lanes, const Clock& clock) {
  WarpState& w = states_[agent];
  if (!w.lanes && (lanes | w.gone) == ~0u) return join(w.clock, clock);
  if (!w.lanes) {
    Clock after = w.clock;
    join(after, clock);
    if (after.part == w.clock.part && after.foreign == w.clock.foreign) return;
    split(w);
  }
  Clock from, to;
  bool first = true;
  each_lane(lanes, [&](uint32_t l) {
    Clock& c = (*w.lanes)[l];
    if (first || !(c.part == from.part && c.foreign == from.foreign)) {
      from = c;
      join(c, clock);
      to = c;
      first = false;
    } else {
      c = to;
    }
  });
}

void RaceChecker::learn(uint32_t agent, uint32_t lanes, uint32_t slot, uint32_t epoch) {
  Clock c;
  raise(&Part::known, c, slot, ~0u, epoch);
  acquire(agent, lanes, c);
}

void RaceChecker::cp_async_complete(uint32_t agent, uint32_t lane, uint32_t group) {
  WarpState& w = states_[agent];
  if (!w.copies) w.copies = std::make_unique<std::array<uint32_t, 32>>();
  uint32_t& known = (*w.copies)[lane];
  known = std::max(known, group);
}

void RaceChecker::settle(uint32_t agent, uint32_t lanes) {
  WarpState& w = states_[agent];
  if (!w.order) return;
  each_lane(lanes, [&](uint32_t l) {
    for (Clock& pending : (*w.order)[l].pending)
      if (!pending.empty()) acquire(agent, 1u << l, std::exchange(pending, {}));
  });
}

void RaceChecker::sync_lanes(uint32_t agent, uint32_t lanes) {
  settle(agent, lanes);
  WarpState& w = states_[agent];
  Clock c = snapshot(agent, lanes);
  ++w.epoch;
  if ((lanes | w.gone) == ~0u) {
    w.clock = std::move(c), w.lanes.reset();
    return;
  }
  acquire(agent, lanes, c);
}

// A fence's mark on all that the lanes know and have done.
void RaceChecker::mark(Knowledge Part::*what, uint32_t agent, uint32_t lanes) {
  WarpState& w = states_[agent];
  auto fenced = [&](Clock& c, uint32_t of_lanes) {
    if (c.cluster == Clock::kNoCluster) c.cluster = cluster_;
    Part& p = c.part.own();
    (p.*what).join(p.known);
    (p.*what).raise(agent, of_lanes, w.epoch);
    if (w.copies) each_lane(of_lanes, [&](uint32_t l) { (p.*what).raise(warps_ + agent, 1u << l, (*w.copies)[l]); });
    if (!c.foreign) return;
    for (auto& [cluster, part] : c.foreign.own().parts) {
      Part& other = part.own();
      (other.*what).join(other.known);
    }
  };
  if (!w.lanes && (lanes | w.gone) == ~0u) {
    fenced(w.clock, lanes | w.absent);
  } else {
    if (!w.lanes) split(w);
    each_lane(lanes, [&](uint32_t l) { fenced((*w.lanes)[l], 1u << l); });
  }
}

void RaceChecker::proxy_fence(uint32_t agent, uint32_t lanes) {
  mark(&Part::visible, agent, lanes);
  ++states_[agent].epoch;
}

RaceChecker::LaneOrder& RaceChecker::order_of(WarpState& w, uint32_t lane) const {
  if (!w.order) w.order = std::make_unique<std::array<LaneOrder, 32>>();
  return (*w.order)[lane];
}

// A fence acquires what was read from threads that its scope includes, and publishes to such threads.
void RaceChecker::fence(uint32_t agent, uint32_t lanes, Scope scope, uint32_t place) {
  WarpState& w = states_[agent];
  each_lane(lanes, [&](uint32_t l) {
    LaneOrder& o = order_of(w, l);
    for (size_t need = 0; need < kScopes; ++need) {
      if (o.pending[need].empty()) continue;
      if (static_cast<size_t>(scope) <= need) acquire(agent, 1u << l, std::exchange(o.pending[need], {}));
      else miss(agent, l, o.pending[need], scope, place);
    }
    const Fenced now{clock_of(w, l), w.epoch, w.copies ? (*w.copies)[l] : 0, place};
    for (size_t s = static_cast<size_t>(scope); s < kScopes; ++s) o.fenced[s] = now;
  });
  if (scope == Scope::gpu) mark(&Part::fenced, agent, lanes);
  ++w.epoch;
}

// What a relaxed write of the lane publishes to threads within a scope.
Clock RaceChecker::fenced_clock(const WarpState& w, uint32_t agent, uint32_t lane, Scope scope) const {
  if (!w.order) return {};
  const Fenced& f = (*w.order)[lane].fenced[static_cast<size_t>(scope)];
  if (f.epoch == 0) return {};
  Clock c = f.clock;
  raise(&Part::known, c, agent, 1u << lane | w.absent, f.epoch);
  raise(&Part::known, c, warps_ + agent, 1u << lane, f.copies);
  return c;
}

void RaceChecker::fenced_into(Clock& into, uint32_t agent, uint32_t lanes) const {
  each_lane(lanes, [&](uint32_t l) { join(into, fenced_clock(states_[agent], agent, l, Scope::cluster)); });
}

// What the lanes know and have done, as something that says less than Part::known.
Clock RaceChecker::known_as(Knowledge Part::*what, uint32_t agent, uint32_t lanes) const {
  const Clock all = snapshot(agent, lanes);
  Clock out;
  if (!all.part) return out;
  out.cluster = all.cluster;
  Knowledge& k = out.part.own().*what;
  k = all.part->known;
  k.join((*all.part).*what);
  return out;
}

void RaceChecker::passed_into(Clock& into, uint32_t agent, uint32_t lanes) const {
  join(into, known_as(&Part::passed, agent, lanes));
}

void RaceChecker::meet(uint32_t agent, uint32_t lanes) {
  acquire(agent, lanes, known_as(&Part::executed, agent, lanes));
  ++states_[agent].epoch;
}

// What a strong read takes over: at once, or with the lane's next fence that has at least this scope.
void RaceChecker::take(uint32_t agent, uint32_t lane, const Clock& clock, Order order, Scope need) {
  if (acquires(order)) acquire(agent, 1u << lane, clock);
  else join(order_of(states_[agent], lane).pending[static_cast<size_t>(need)], clock);
}

void RaceChecker::note_miss(uint32_t to_cta, Scope scope, uint32_t place) {
  constexpr size_t kMostMisses = 64;
  std::erase_if(scope_misses_, [&](const ScopeMiss& m) { return m.to_cta == to_cta && m.place == place; });
  if (scope_misses_.size() < kMostMisses) scope_misses_.push_back({to_cta, place, scope});
}

void RaceChecker::out_of_scope_into(Clock& into, uint32_t agent, uint32_t lane, uint32_t place) {
  join(into, narrowed(snapshot(agent, 1u << lane)));
  note_miss(View::kNoRow, Scope::cta, place);
}

// What the lane would have acquired, but for the scope of `place`. What it says of threads within that scope counts.
void RaceChecker::miss(uint32_t agent, uint32_t lane, const Clock& clock, Scope scope, uint32_t place) {
  const Home home = home_of(agent);
  acquire(agent, 1u << lane, restricted(clock, home, scope, warps_, warps_per_cta_));
  acquire(agent, 1u << lane, narrowed(clock));
  note_miss(home.cta, scope, place);
}

void RaceChecker::read_published(uint32_t agent, uint32_t lane, const Publication& p, Order order, Scope scope,
                                 uint32_t place) {
  const Home home = home_of(agent);
  auto read = [&](const Clock& clock, Scope need) {
    if (scope <= need) take(agent, lane, clock, order, need);
    else miss(agent, lane, clock, scope, place);
  };
  if (!p.all.empty()) read(p.all, p.several ? Scope::gpu : needed(home, p.from));
  for (const Publication::Narrow& n : p.narrow) {
    const Scope need = needed(home, n.from);
    if (n.reach > need) miss(agent, lane, n.clock, n.reach, n.place);
    else read(n.clock, need);
  }
}

// What a strong write of the lane publishes. A narrower fence after a wider one adds what it knows for those near.
Publication RaceChecker::published_by(uint32_t agent, uint32_t lane, Order order, Scope scope, uint32_t place) {
  WarpState& w = states_[agent];
  Publication out;
  if (releases(order)) {
    out.add(home_of(agent), scope, place, snapshot(agent, 1u << lane));
    ++w.epoch;
    return out;
  }
  if (const Clock c = fenced_part(clock_of(w, lane)); !c.empty()) out.add(home_of(agent), scope, place, c);
  if (!w.order) return out;
  const auto& fenced = (*w.order)[lane].fenced;
  const auto first = static_cast<size_t>(scope);
  for (size_t s = first; s < kScopes; ++s)
    if (s == first || fenced[s].epoch > fenced[s - 1].epoch)
      out.add(home_of(agent), static_cast<Scope>(s), s == first ? place : fenced[s].place,
              fenced_clock(w, agent, lane, static_cast<Scope>(s)));
  return out;
}

void RaceChecker::strong(uint32_t agent, uint32_t lane, bool is_global, uint64_t address, StrongOp op, Order order,
                         Scope scope, uint32_t place) {
  Published& all = is_global ? *published_ : shared_published_;
  auto at = all.find(address);
  if (op != StrongOp::store && at != all.end()) read_published(agent, lane, at->second, order, scope, place);
  if (op == StrongOp::load) return;
  Publication out = published_by(agent, lane, order, scope, place);
  if (op == StrongOp::update && out.empty()) return;
  if (at == all.end()) {
    if (!out.empty()) all.emplace(address, std::move(out));
  } else if (op == StrongOp::update) {
    at->second.add(out);
  } else if (out.empty()) {
    all.erase(at);
  } else {
    at->second = std::move(out);
  }
}

bool RaceChecker::knows(uint32_t agent, uint32_t lane, uint32_t slot, uint32_t epoch) const {
  const Clock& c = clock_of(states_[agent], lane);
  return c.part && c.part->known.floor(slot) >= epoch;
}

void RaceChecker::complete(Clock& clock, uint32_t slot, uint32_t epoch) const {
  raise(&Part::known, clock, slot, ~0u, epoch);
}
void RaceChecker::complete_copies(Clock& clock, uint32_t agent, uint32_t lane, uint32_t group) const {
  raise(&Part::known, clock, warps_ + agent, 1u << lane, group);
}

void RaceChecker::forget(uint32_t address, uint32_t bytes) {
  for (uint64_t word = address / 4; 4 * word < uint64_t{address} + bytes; ++word)
    *shared_memory_->shadow.cell(word) = {};
}

}  // namespace tc::sim
