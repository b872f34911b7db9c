// The repairs of a protocol (diagnosis.h): small edits, each of which undoes one mistake, and what that mistake breaks.
// One file a family: counts, parity, order, trips. `all` is the order of preference.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "verifier/rules/diagnosis.h"
#include "verifier/rules/sites.h"

namespace tc::verify {

class Repairs {
 public:
  explicit Repairs(const Protocol& p) : p_(p), sites_(sites_of(p)) {}
  std::vector<Repair> all();

 private:
  // repair_counts.cc
  void bytes();
  void bytes_added(const Site& s, int r, int64_t expected, int64_t copied);
  const Origin& bytes_place(int r, const Event& expect, int64_t expected) const;
  void counts();
  void executors(const Site& s);
  void missing_arrival(const Site& w);
  void surplus(const Site& s);
  // repair_parity.cc
  void parity(const Site& s);
  std::pair<Protocol, Diagnosis> surplus_wait(const Site& s);
  void flip_slot(const Site& s);
  void widen_wait(const Site& s);
  void slots(const Site& s);
  void slot_names(size_t role);
  static void rename(Expr& e, const std::string& a, const std::string& b);
  // repair_order.cc
  void late_expect(const Site& s);
  void lone_wait(const Site& s);
  void release(const Site& s);
  const Event* matrix_before(const Site& s) const;
  size_t body_size(const Site& s);
  static void insert_to(Protocol& fixed, const Site& s, size_t to);
  void missing_wait(const Site& s);
  const Event* first_write(size_t role) const;
  // repair_trips.cc
  void trips();
  void trips_by_one();
  const Event* partner_wait(const LoopSite& l) const;
  void guards(const Site& s);
  std::vector<std::string> predicates() const;
  // what they share
  const Ring& ring(const Event& e) const { return p_.rings[static_cast<size_t>(e.ring)]; }
  std::string name(const Event& e) const { return e.ring >= 0 ? ring(e).name : std::string(); }
  void add(Protocol fixed, Diagnosis d, int ring, const Event* except);
  Diagnosis at(const Origin& o, std::string obligation, std::string rule, std::string defect, std::string message);
  bool fills(size_t role) const;
  static int64_t first_parity(const Expr& e, int64_t stages);
  bool in_scope(const Site& s, const Expr& e) const;

  const Protocol& p_;
  std::vector<Site> sites_;
  std::vector<Repair> out_, unusual_;  // unusual: right perhaps, but not how rings are written
};

}  // namespace tc::verify
