#include <cmath>
#include <memory>

#include "miniapps/kernels/c_api.hpp"
#include "miniapps/kernels/gridrec_plan.hpp"
#include "miniapps/kernels/gridrec_run.hpp"

using namespace miniapps::kernels;

struct pk_gridrec_plan {
  GridrecPlan plan;
};
struct pk_gridrec_scratch {
  const pk_gridrec_plan* owner;
  GridrecScratch scratch;
};

extern "C" {

void pk_gridrec_desc_init(pk_gridrec_desc* desc, int32_t angles, int32_t columns, const double* theta) {
  if (desc == nullptr) return;
  *desc = {};
  desc->struct_size = sizeof(pk_gridrec_desc);
  desc->angles = angles;
  desc->columns = columns;
  desc->theta = theta;
  desc->filter = PK_FILTER_SHEPP;
  desc->filter_p0 = 0.5;
  desc->filter_p1 = 8;
  desc->padding = 2;
  desc->kernel_error = 5e-3;
}

pk_status pk_gridrec_plan_create(const pk_gridrec_desc* desc, pk_gridrec_plan** plan, pk_error* error) {
  if (desc == nullptr || plan == nullptr) return answer_invalid(error, "desc or plan is NULL");
  *plan = nullptr;
  if (desc->struct_size != sizeof(pk_gridrec_desc))
    return answer_invalid(error, "struct_size is wrong: call pk_gridrec_desc_init, of the same version");
  return fenced(error, [&] {
    const std::string problem = check_gridrec(*desc);
    if (!problem.empty()) return answer_invalid(error, problem);
    *plan = new pk_gridrec_plan{GridrecPlan(*desc)};
    return answer_ok(error);
  });
}

void pk_gridrec_plan_destroy(pk_gridrec_plan* plan) {
  delete plan;
}

void pk_gridrec_plan_shape(const pk_gridrec_plan* plan, int32_t* rows, int32_t* cols, int32_t* transform,
                           int32_t* grid) {
  if (plan == nullptr) return;
  if (rows != nullptr) *rows = plan->plan.rows;
  if (cols != nullptr) *cols = plan->plan.cols;
  if (transform != nullptr) *transform = plan->plan.transform;
  if (grid != nullptr) *grid = plan->plan.grid;
}

pk_status pk_gridrec_scratch_create(const pk_gridrec_plan* plan, int32_t max_slices,
                                    pk_gridrec_scratch** scratch, pk_error* error) {
  if (plan == nullptr || scratch == nullptr) return answer_invalid(error, "plan or scratch is NULL");
  *scratch = nullptr;
  return fenced(error, [&] {
    *scratch = new pk_gridrec_scratch{plan, GridrecScratch(plan->plan, max_slices)};
    return answer_ok(error);
  });
}

void pk_gridrec_scratch_destroy(pk_gridrec_scratch* scratch) {
  delete scratch;
}

pk_status pk_gridrec_run(const pk_gridrec_plan* plan, pk_gridrec_scratch* scratch, const float* sino,
                         const double* centres, int32_t slices, float* out, pk_error* error) {
  if (plan == nullptr || scratch == nullptr) return answer_invalid(error, "plan or scratch is NULL");
  if (scratch->owner != plan) return answer_invalid(error, "the scratch was made for another plan");
  if (slices < 0) return answer_invalid(error, "slices is negative");
  if (slices == 0) return answer_ok(error);
  if (sino == nullptr || out == nullptr) return answer_invalid(error, "sino or out is NULL");
  if (centres != nullptr)
    for (int32_t s = 0; s < slices; ++s)
      if (!(std::abs(centres[s]) < 1e6)) return answer_invalid(error, "a centre is not a sensible number");
  return fenced(error, [&] {
    run_gridrec(plan->plan, scratch->scratch, sino, centres, slices, out);
    return answer_ok(error);
  });
}

}  // extern "C"
