#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "base/files.h"
#include "verifier/proof/certificate.h"
#include "verifier/proof/exact.h"
#include "verifier/proof/mutants.h"
#include "verifier/proof/prove.h"

namespace tc::verify {
namespace {
using Json = nlohmann::ordered_json;

std::string corpus_text(const std::string& name) { return *read_file(TC_TESTDATA "/protocol/" + name + ".protocol"); }
Protocol protocol(const std::string& name) { return *parse_protocol(name, corpus_text(name)); }
Proof proof_of(const Protocol& p) { return prove(p, Deadline(30), {}); }

// ---- terms
TEST(Terms, QuotientsAreCanonicalAndAgreeWithArithmetic) {
  Terms t;
  Sym i = t.variable("i", "i"), k = t.variable("k", "k");
  EXPECT_EQ(t.quotient(Aff::of(i) - 3, 3), t.quotient(Aff::of(i), 3) - 1);
  EXPECT_EQ(t.remainder(Aff::of(i) * 6 + 7, 3), Aff(1));
  std::mt19937 random(3);
  auto draw = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  for (int n = 0; n < 2000; ++n) {
    Aff x = Aff::of(i) * (draw(9) - 4) + Aff::of(k) * (draw(9) - 4) + (draw(21) - 10);
    int64_t c = 1 + draw(6);
    Point p(t.symbol_count() + 4);
    p[i] = draw(21) - 10;
    p[k] = draw(21) - 10;
    int64_t value = x.at(p), q = value >= 0 ? value / c : -((c - 1 - value) / c);
    EXPECT_EQ(t.value(t.quotient(x, c), p), q);
    EXPECT_EQ(t.value(t.remainder(x, c), p), value - q * c);
    Aff y = Aff::of(i) * (draw(5) - 2) + (draw(5) - 2);
    Formula f = t.all({t.at_least_zero(x), t.any({t.is_zero(y), t.negation(t.at_least_zero(y))})});
    bool want = value >= 0 && y.at(p) <= 0;
    EXPECT_EQ(t.holds(f, p), want);
    EXPECT_EQ(t.holds(t.negation(f), p), !want);
  }
}

// The solver and evaluation at points agree on small formulas.
TEST(Solver, AgreesWithEnumeration) {
  Terms t;
  std::vector<Sym> v{t.variable("a", "a"), t.variable("b", "b")};
  Deadline deadline(60);
  Solver solver(t, deadline);
  std::mt19937 random(5);
  auto draw = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  for (int n = 0; n < 150; ++n) {
    auto term = [&] {
      return Aff::of(v[0]) * (draw(5) - 2) + t.remainder(Aff::of(v[1]) * (1 + draw(3)), 2 + draw(3)) * (draw(5) - 2) +
             (draw(9) - 4);
    };
    std::vector<Formula> fs{t.at_least_zero(Aff::of(v[0])), t.at_least_zero(Aff::of(v[1])),
                            t.at_least_zero(Aff(5) - Aff::of(v[0])), t.at_least_zero(Aff(5) - Aff::of(v[1]))};
    fs.push_back(t.at_least_zero(term()));
    fs.push_back(t.any({t.is_zero(term()), t.at_least_zero(term())}));
    fs.push_back(t.is_zero(t.choose(t.at_least_zero(term()), term(), draw(3))));
    bool some = false;
    for (int64_t a = 0; a <= 5; ++a)
      for (int64_t b = 0; b <= 5; ++b) {
        Point p(t.symbol_count());
        p[v[0]] = a;
        p[v[1]] = b;
        some |= std::ranges::all_of(fs, [&](Formula f) { return t.holds(f, p); });
      }
    Answer answer = solver.check("random", fs, v, 3);
    EXPECT_EQ(answer.result, some ? Satisfiable::yes : Satisfiable::no);
    if (answer.result != Satisfiable::yes) continue;
    answer.point.resize(t.symbol_count());
    for (Formula f : fs) EXPECT_TRUE(t.holds(f, answer.point));
  }
}

// ---- the machine
TEST(ExactRun, FollowsTheRulesOfTheBarrier) {
  struct Row {
    const char *what, *body;
    std::optional<FailureKind> failure;
  };
  const std::string head = "S 1\nparam\nring b 1 count 2\nbuf A 1\nrole r 1x1\n";
  for (const Row& r :
       {Row{"a fresh barrier lets a wait for parity 1 through", "  one wait b[0] 1\n", std::nullopt},
        {"and blocks one for parity 0", "  one wait b[0] 0\n", FailureKind::hang},
        {"two arrivals complete a phase of count 2", "  one arrive b[0] x 2\n  one wait b[0] 0\n", std::nullopt},
        {"the next phase is another", "  one arrive b[0] x 2\n  one wait b[0] 1\n", FailureKind::hang},
        {"two phases further on the parity is back",
         "  one arrive b[0] x 2\n  one arrive b[0] x 2\n  one wait b[0] 1\n", std::nullopt},
        {"more than are pending trap", "  one arrive b[0]\n  one arrive b[0] x 2\n", FailureKind::over_arrival},
        {"expected bytes hold a phase back", "  one arrive b[0] x 2 tx 16\n  one wait b[0] 0\n", FailureKind::hang},
        {"a copy brings them",
         "  one arrive b[0] x 2 tx 16\n  one copy A[0] tile 0 bytes 16 on b[0]\n  one wait b[0] 0\n  one read A[0] "
         "tile 0\n",
         std::nullopt},
        {"also before they are expected",
         "  one copy A[0] tile 0 bytes 16 on b[0]\n  one expect b[0] 16\n  one arrive b[0] x 2\n  one wait b[0] 0\n",
         std::nullopt},
        {"a read without the wait is a race",
         "  one arrive b[0] x 2 tx 16\n  one copy A[0] tile 0 bytes 16 on b[0]\n  one read A[0] tile 0\n",
         FailureKind::race},
        {"the transaction count has a limit", "  one expect b[0] 600000\n  one expect b[0] 600000\n",
         FailureKind::too_many_bytes},
        {"a slot that is not there", "  one arrive b[1]\n", FailureKind::bounds},
        {"a negative operand", "  one arrive b[(0 - 1) % 1]\n", FailureKind::negative}}) {
    auto p = parse_protocol(r.what, head + r.body);
    ASSERT_TRUE(p.ok()) << r.what << render(p.error());
    Model m = build_model(*p);
    auto found = attack(m, {.params = {{}}, .seeds = 6, .most = 2, .out_of_time = {}});
    EXPECT_EQ(found.has_value(), r.failure.has_value()) << r.what;
    if (found && r.failure) {
      EXPECT_EQ(found->result.failure->kind, *r.failure) << r.what;
    }
  }
}

TEST(ExactRun, ForgettingOldAccessesChangesNothing) {
  // 3000 trips need more accesses than are kept at once.
  Protocol p = protocol("ok_ring_of_3_stages");
  Model m = build_model(p);
  auto traces = expand(m, make_inputs(m, {3000}, 1, true), 2, 100000);
  ASSERT_TRUE(traces);
  EXPECT_GT(traces->total, 20000u);
  for (uint64_t seed : {0, 1, 3})
    EXPECT_FALSE(run(m, *traces, seed, Reading::parity, parameter_point(m, make_inputs(m, {3000}, 1, true))).failure);
  // The same ring with a release one slot off fails late as well as early.
  Model bad = build_model(protocol("bad_release_of_the_next_slot"));
  EXPECT_TRUE(attack(bad, {.params = {{2000}}, .seeds = 15, .most = 2, .out_of_time = {}}));
}

// ---- certificates
TEST(Certificate, RoundTripsAndHolds) {
  for (const char* name : {"ok_ring_of_3_stages", "ok_persistent_running_counter", "gemm_ok_4_stages"}) {
    Protocol p = protocol(name);
    Proof proof = proof_of(p);
    ASSERT_TRUE(proof.proved()) << name;
    std::string json = certificate_json(make_certificate(p, proof));
    auto c = parse_certificate(json);
    ASSERT_TRUE(c.ok()) << render(c.error());
    EXPECT_EQ(certificate_json(*c), json);
    EXPECT_EQ(recheck(p, *c), std::nullopt) << name;
  }
  EXPECT_FALSE(parse_certificate("{").ok());
  EXPECT_FALSE(parse_certificate("{\"version\":1}").ok());
  EXPECT_FALSE(parse_certificate("[1]").ok());
}

// Every integer below `j`, as pointers into the document.
void integers(Json& j, std::vector<Json*>& out) {
  if (j.is_number_integer()) out.push_back(&j);
  if (j.is_structured())
    for (Json& x : j) integers(x, out);
}
// Alters every integer under the given keys in turn; returns how many alterations the checker accepted.
size_t accepted_alterations(const Protocol& p, const std::string& json, const std::vector<std::string>& keys,
                            size_t& tried) {
  Json document = Json::parse(json);
  size_t accepted = 0;
  for (const std::string& key : keys) {
    std::vector<Json*> numbers;
    integers(document.at(key), numbers);
    for (Json* n : numbers)
      for (int64_t d : {1, -1}) {
        Json before = *n;
        *n = before.get<int64_t>() + d;
        auto c = parse_certificate(document.dump());
        EXPECT_TRUE(c.ok());
        ++tried;
        if (c.ok() && !recheck(p, *c)) {
          ++accepted;
          std::printf("accepted: %s %lld -> %lld\n", key.c_str(), static_cast<long long>(before.get<int64_t>()),
                      static_cast<long long>(n->get<int64_t>()));
        }
        *n = before;
      }
  }
  return accepted;
}

TEST(Certificate, EveryAlteredCoefficientIsRejected) {
  for (const char* name :
       {"ok_ring_of_3_stages", "gemm_ok_2_stages", "ok_staged_store_by_one_lane", "ok_persistent_running_counter"}) {
    Protocol p = protocol(name);
    Proof proof = proof_of(p);
    ASSERT_TRUE(proof.proved()) << name;
    size_t tried = 0;
    EXPECT_EQ(accepted_alterations(p, certificate_json(make_certificate(p, proof)),
                                   {"flat", "outer", "events", "dependencies"}, tried),
              0u)
        << name;
    EXPECT_GT(tried, 90u) << name;
  }
}

TEST(Certificate, AlteredPathsAreRejected) {
  Protocol p = protocol("ok_ring_of_3_stages");
  Json document = Json::parse(certificate_json(make_certificate(p, proof_of(p))));
  size_t tried = 0, accepted = 0;
  for (Json& question : document.at("questions"))
    for (Json& path : question)
      for (Json& node : path.at("nodes")) {
        std::vector<Json*> numbers;
        integers(node, numbers);
        for (Json* n : numbers) {
          Json before = *n;
          *n = before.get<int64_t>() + 1;
          auto c = parse_certificate(document.dump());
          ++tried;
          if (c.ok() && !recheck(p, *c)) ++accepted, std::printf("accepted: %s\n", path.dump().c_str());
          *n = before;
        }
      }
  EXPECT_GT(tried, 100u);
  EXPECT_EQ(accepted, 0u);
  // A path that is taken away leaves its cases uncovered.
  Json without = document;
  for (Json& question : without.at("questions"))
    if (!question.empty()) {
      question = Json::array();
      break;
    }
  auto c = parse_certificate(without.dump());
  ASSERT_TRUE(c.ok());
  ASSERT_TRUE(recheck(p, *c));
  EXPECT_NE(recheck(p, *c)->find("no path is listed"), std::string::npos);
}

TEST(Certificate, BelongsToItsProtocol) {
  Protocol p = protocol("ok_ring_of_3_stages");
  Certificate c = make_certificate(p, proof_of(p));
  for (const char* other : {"bad_consumer_parity_flipped", "bad_count_too_large", "bad_release_of_the_next_slot",
                            "bad_producer_one_trip_short", "ok_ring_of_5_stages"})
    EXPECT_TRUE(recheck(protocol(other), c)) << other;
}

// ---- another solver
TEST(SmtLib, Cvc5AgreesWhereItIsInstalled) {
  if (std::system("cvc5 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "cvc5 is not installed";
  Proof proof = prove(protocol("gemm_ok_3_stages"), Deadline(30), {.most_findings = 8, .keep_log = true});
  ASSERT_TRUE(proof.proved());
  ASSERT_GT(proof.log.size(), 30u);
  std::string script;  // all queries in one run of the solver
  std::vector<std::string> want;
  for (const LoggedQuery& q : proof.log) {
    std::string text = smt_lib(proof.model->terms, q);
    script += text + "(reset)\n";
    want.push_back(q.result == Satisfiable::no ? "unsat" : "sat");
  }
  std::string path =
      (std::filesystem::temp_directory_path() / ("tilecheck_" + std::to_string(::getpid()) + ".smt2")).string();
  ASSERT_TRUE(write_file(path, script).ok());
  FILE* pipe = ::popen(("cvc5 --lang smt2 --tlimit=60000 " + path).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> got;
  char line[256];
  while (std::fgets(line, sizeof line, pipe)) got.push_back(std::string(line).substr(0, std::string(line).find('\n')));
  ::pclose(pipe);
  std::filesystem::remove(path);
  EXPECT_EQ(got, want);
}

// ---- mutants: a sample; tools/mutate_protocols runs all
TEST(Mutants, WhatIsProvedSurvivesExactRuns) {
  std::mt19937 random(17);
  size_t proved = 0, judged = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& f : std::filesystem::directory_iterator(TC_TESTDATA "/protocol"))
    if (f.path().filename().string().starts_with("ok_")) files.push_back(f.path());
  std::ranges::sort(files);
  for (const auto& f : files) {
    std::vector<Mutant> mutants = mutants_of(*read_file(f.string()));
    ASSERT_GT(mutants.size(), 10u) << f;
    std::shuffle(mutants.begin(), mutants.end(), random);
    for (size_t i = 0; i < 6; ++i) {
      auto p = parse_protocol(f.string(), mutants[i].text);
      if (!p.ok()) continue;
      ++judged;
      Proof proof = prove(*p, Deadline(30), {.most_findings = 1, .keep_log = false});
      if (!proof.proved()) continue;
      ++proved;
      EXPECT_EQ(contradiction(proof, 12), std::nullopt) << f << " / " << mutants[i].what << "\n" << mutants[i].text;
      EXPECT_EQ(recheck(*p, make_certificate(*p, proof)), std::nullopt) << f << " / " << mutants[i].what << "\n"
                                                                        << mutants[i].text;
    }
  }
  EXPECT_GE(judged, 140u);
  EXPECT_GE(proved, 15u);
}

}  // namespace
}  // namespace tc::verify
