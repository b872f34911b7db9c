// setmaxnreg as a matter of a whole warpgroup (SETREG-04, PTX ISA 9.7.19.5): its four warps execute the same ones with
// the same values, and synchronise before the next.
//   warps 0-3: dec 40 each; warps 4-6: inc 232, warp 7: inc 240   SETREG-04 at the last one
// Judged by happens-before, and by the number of each warp's requests when the CTA has left.
#pragma once
#include <cstdint>

namespace tc::sim {

struct Cta;
struct Warp;

struct RegisterRequest {
  uint32_t registers = 0, place = 0;
  bool increase = false;
  uint32_t event = 0;  // in the vector clocks
};

// Before it takes effect.
void note_register_request(Warp& w, RegisterRequest request);
// After all threads have left.
void check_register_requests(Cta& c);

}  // namespace tc::sim
