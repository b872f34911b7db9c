// The findings of a cluster as diagnostics: races, what is outstanding when all threads have left, who waits for whom
// in a deadlock. Each names both sides by their source lines; a helper function that was inlined by its call site.
#pragma once
#include <vector>

#include "base/diag.h"

namespace tc::sim {

struct Cluster;
struct Launch;
struct Program;
class GlobalMemory;
class GridRaces;

void report_races(Cluster& cluster);
// After all threads have left.
void report_exit(Cluster& cluster);
// Paths that wait for lanes of their warp which have passed by. Called when no path can go on.
void report_divergence(Cluster& cluster);
// When no path can go on.
void report_hang(Cluster& cluster);
// Between the clusters of a launch.
std::vector<Diag> describe_grid_races(const GridRaces& races, const Program& program, const GlobalMemory& global,
                                      const Launch& launch);

}  // namespace tc::sim
