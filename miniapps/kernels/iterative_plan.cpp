#include <algorithm>
#include <cmath>
#include <cstring>

#include "miniapps/kernels/iterative.hpp"

namespace miniapps::kernels {

std::string check_iterative(const pk_iterative_desc& d) {
  if (d.angles < 1 || d.angles > 1000000) return "angles must be 1 to 1000000";
  if (d.columns < 2 || d.columns > 32768) return "columns must be 2 to 32768";
  if (d.theta == nullptr) return "theta is NULL; it must point to one angle in radians for each projection";
  for (int a = 0; a < d.angles; ++a)
    if (!(std::abs(d.theta[a]) < 1e6)) return "theta has a value that is not an angle in radians";
  if (d.method < PK_MLEM || d.method > PK_SIRT) return "method must be 0 (ML-EM), 1 (OS-EM) or 2 (SIRT)";
  if (d.method == PK_OSEM && (d.subsets < 1 || d.subsets > d.angles))
    return "subsets must be 1 to the number of angles";
  if (d.image_size < 0 || d.image_size > 32768) return "image_size must be 0 to 32768";
  if (d.method == PK_SIRT && !(d.relaxation > 0 && d.relaxation < 2))
    return "relaxation must lie between 0 and 2";
  if (!(d.tolerance >= 0 && d.tolerance < 1)) return "tolerance must be 0 or more, and below 1";
  return {};
}

IterativePlan::IterativePlan(const pk_iterative_desc& d)
    : desc(d),
      size(d.image_size > 0 ? d.image_size : d.columns),
      pitch((size + 2 * line_pad + 15) / 16 * 16),
      subsets(d.method == PK_OSEM ? d.subsets : 1) {
  desc.theta = nullptr;
  for (int a = 0; a < d.angles; ++a) {
    cosine.push_back(std::cos(d.theta[a]));
    sine.push_back(std::sin(d.theta[a]));
    const bool transposed = std::abs(sine[a]) > std::abs(cosine[a]);
    std::vector<AngleGroup>& groups = subsets[a % subsets.size()];
    const auto open = std::find_if(groups.begin(), groups.end(), [&](const AngleGroup& g) {
      return g.transposed == transposed && int(g.angles.size()) < most_angles;
    });
    if (open == groups.end())
      groups.push_back({transposed, {a}});
    else
      open->angles.push_back(a);
  }
}

IterativeScratch::IterativeScratch(const IterativePlan& plan) {
  // Beyond this size four slices would take more memory than their sharing is worth.
  constexpr std::size_t most_floats = std::size_t{64} << 20;
  slices_at_once = plan.image_floats() * 4 * most_slices <= most_floats ? most_slices : 1;
  for (int k = 0; k < slices_at_once; ++k)
    for (auto* images : {&image, &update})
      images->push_back(
          {AlignedBuffer<float>(plan.image_floats()), AlignedBuffer<float>(plan.image_floats())});
  for (std::size_t s = 0; s < plan.subsets.size(); ++s) sensitivity.emplace_back(plan.image_floats());
  bins = AlignedBuffer<float>(plan.row_floats() * most_angles * slices_at_once);
  std::memset(bins.data(), 0, bins.size() * sizeof(float));
  if (plan.desc.method == PK_SIRT)
    row_sums = AlignedBuffer<float>(std::size_t(plan.desc.angles) * plan.desc.columns);
}

}  // namespace miniapps::kernels
