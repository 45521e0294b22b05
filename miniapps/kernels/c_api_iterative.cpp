#include <algorithm>
#include <cmath>

#include "miniapps/kernels/c_api.hpp"
#include "miniapps/kernels/iterative.hpp"

using namespace miniapps::kernels;

struct pk_iterative_plan {
  IterativePlan plan;
};
struct pk_iterative_scratch {
  const pk_iterative_plan* owner;
  IterativeScratch scratch;
};

namespace {

// What the three functions that work on slices have in common.
pk_status check_call(const pk_iterative_plan* plan, const pk_iterative_scratch* scratch, const void* sino,
                     const double* centres, int32_t slices, const void* image, pk_error* error) {
  if (plan == nullptr || scratch == nullptr) return answer_invalid(error, "plan or scratch is NULL");
  if (scratch->owner != plan) return answer_invalid(error, "the scratch was made for another plan");
  if (slices < 0) return answer_invalid(error, "slices is negative");
  if (slices > 0 && (sino == nullptr || image == nullptr))
    return answer_invalid(error, "sino or image is NULL");
  for (int32_t s = 0; centres != nullptr && s < slices; ++s)
    if (!(std::abs(centres[s]) < 1e6)) return answer_invalid(error, "a centre is not a sensible number");
  return answer_ok(error);
}

double centre_of(const IterativePlan& plan, const double* centres, int32_t slice) {
  return centres != nullptr ? centres[slice] : 0.5 * (plan.desc.columns - 1);
}
std::size_t sino_size(const IterativePlan& plan) {
  return std::size_t(plan.desc.angles) * plan.desc.columns;
}
std::size_t image_size(const IterativePlan& plan) {
  return std::size_t(plan.size) * plan.size;
}

}  // namespace

extern "C" {

void pk_iterative_desc_init(pk_iterative_desc* desc, int32_t angles, int32_t columns, const double* theta) {
  if (desc == nullptr) return;
  *desc = {};
  desc->struct_size = sizeof(pk_iterative_desc);
  desc->angles = angles;
  desc->columns = columns;
  desc->theta = theta;
  desc->subsets = 1;
  desc->relaxation = 1;
}

pk_status pk_iterative_plan_create(const pk_iterative_desc* desc, pk_iterative_plan** plan, pk_error* error) {
  if (desc == nullptr || plan == nullptr) return answer_invalid(error, "desc or plan is NULL");
  *plan = nullptr;
  if (desc->struct_size != sizeof(pk_iterative_desc))
    return answer_invalid(error, "struct_size is wrong: call pk_iterative_desc_init, of the same version");
  return fenced(error, [&] {
    const std::string problem = check_iterative(*desc);
    if (!problem.empty()) return answer_invalid(error, problem);
    *plan = new pk_iterative_plan{IterativePlan(*desc)};
    return answer_ok(error);
  });
}

void pk_iterative_plan_destroy(pk_iterative_plan* plan) {
  delete plan;
}

pk_status pk_iterative_scratch_create(const pk_iterative_plan* plan, pk_iterative_scratch** scratch,
                                      pk_error* error) {
  if (plan == nullptr || scratch == nullptr) return answer_invalid(error, "plan or scratch is NULL");
  *scratch = nullptr;
  return fenced(error, [&] {
    *scratch = new pk_iterative_scratch{plan, IterativeScratch(plan->plan)};
    return answer_ok(error);
  });
}

void pk_iterative_scratch_destroy(pk_iterative_scratch* scratch) {
  delete scratch;
}

pk_status pk_iterative_run(const pk_iterative_plan* plan, pk_iterative_scratch* scratch, const float* sino,
                           const double* centres, int32_t slices, int32_t iterations, int32_t warm_start,
                           float* image, int32_t* done, double* objective, pk_error* error) {
  const pk_status status = check_call(plan, scratch, sino, centres, slices, image, error);
  if (status != PK_OK) return status;
  if (iterations < 1 || iterations > 100000) return answer_invalid(error, "iterations must be 1 to 100000");
  return fenced(error, [&] {
    const IterativePlan& p = plan->plan;
    for (int32_t s = 0, n = 1; s < slices; s += n) {
      const double centre = centre_of(p, centres, s);
      const int32_t most = std::min<int32_t>(scratch->scratch.slices_at_once, slices - s);
      for (n = 1; n < most && centre_of(p, centres, s + n) == centre;) ++n;
      run_iterative(
          p, scratch->scratch,
          {sino + s * sino_size(p), n, centre, iterations, warm_start != 0, image + s * image_size(p),
           objective == nullptr ? nullptr : objective + std::ptrdiff_t(s) * iterations,
           done == nullptr ? nullptr : done + s});
    }
    return answer_ok(error);
  });
}

pk_status pk_project(const pk_iterative_plan* plan, pk_iterative_scratch* scratch, const float* image,
                     const double* centres, int32_t slices, float* sino, pk_error* error) {
  const pk_status status = check_call(plan, scratch, sino, centres, slices, image, error);
  for (int32_t s = 0; status == PK_OK && s < slices; ++s)
    project(plan->plan, scratch->scratch, image + s * image_size(plan->plan),
            centre_of(plan->plan, centres, s), sino + s * sino_size(plan->plan));
  return status;
}

pk_status pk_back_project(const pk_iterative_plan* plan, pk_iterative_scratch* scratch, const float* sino,
                          const double* centres, int32_t slices, float* image, pk_error* error) {
  const pk_status status = check_call(plan, scratch, sino, centres, slices, image, error);
  for (int32_t s = 0; status == PK_OK && s < slices; ++s)
    back_project(plan->plan, scratch->scratch, sino + s * sino_size(plan->plan),
                 centre_of(plan->plan, centres, s), image + s * image_size(plan->plan));
  return status;
}

}  // extern "C"
