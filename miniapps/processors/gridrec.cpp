#include "miniapps/processors/gridrec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <list>
#include <mutex>

#include "miniapps/kernels/kernels.h"
#include "pilot/base/suggest.hpp"

namespace miniapps::processors {

using formats::FrameHeader;
using formats::FrameView;
using pilot::ErrorCode;
using pilot::Result;

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t max_plans = 8;           // shapes in use at the same time
constexpr std::uint32_t efficient_slices = 8;  // measured: 1.3 to 1.5 times the speed of 2

struct Plan {
  std::int32_t angles = 0;
  std::int32_t columns = 0;
  std::vector<float> theta;
  std::shared_ptr<const pk_gridrec_plan> plan;
};

int filter_number(const std::string& name) {
  const auto& names = gridrec_filters();
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::string hexadecimal(const std::array<std::uint8_t, 16>& bytes) {
  std::string text;
  for (auto byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Plans by shape and angles; made once, used by all threads.
class Plans {
 public:
  explicit Plans(const GridrecParameters& parameters) : parameters_(parameters) {}

  Result<Plan> get(std::int32_t angles, std::int32_t columns, std::span<const float> theta) {
    const std::lock_guard lock(mutex_);
    for (auto it = plans_.begin(); it != plans_.end(); ++it) {
      if (it->columns != columns ||
          !std::equal(theta.begin(), theta.end(), it->theta.begin(), it->theta.end()))
        continue;
      plans_.splice(plans_.begin(), plans_, it);
      return plans_.front();
    }
    PILOT_TRY(auto plan, make(angles, columns, theta));
    plans_.push_front(std::move(plan));
    if (plans_.size() > max_plans) plans_.pop_back();
    return plans_.front();
  }

 private:
  Result<Plan> make(std::int32_t angles, std::int32_t columns, std::span<const float> theta) const {
    const std::vector<double> radians(theta.begin(), theta.end());
    pk_gridrec_desc desc;
    pk_gridrec_desc_init(&desc, angles, columns, radians.data());
    desc.filter = filter_number(parameters_.filter);
    desc.filter_p0 = parameters_.filter_cutoff;
    desc.filter_p1 = parameters_.filter_order;
    desc.padding = parameters_.padding;
    desc.edge = parameters_.repeat_edges ? PK_EDGE_REPEAT : PK_EDGE_ZERO;
    pk_gridrec_plan* plan = nullptr;
    pk_error error{};
    if (pk_gridrec_plan_create(&desc, &plan, &error) != PK_OK) return kernel_error(error.code, error.message);
    const auto destroy = [](const pk_gridrec_plan* p) {
      pk_gridrec_plan_destroy(const_cast<pk_gridrec_plan*>(p));
    };
    return Plan{angles, columns, {theta.begin(), theta.end()}, {plan, destroy}};
  }

  const GridrecParameters parameters_;
  std::mutex mutex_;
  std::list<Plan> plans_;  // most recently used first
};

struct ScratchDeleter {
  void operator()(pk_gridrec_scratch* scratch) const { pk_gridrec_scratch_destroy(scratch); }
};

class GridrecReconstructor final : public Reconstructor {
 public:
  GridrecReconstructor(Plans& plans, const GridrecParameters& parameters)
      : plans_(plans), circle_(parameters.circle), cleaner_(parameters.cleaning) {}

  Result<CentreAnswer> find_centre(const FrameView& block) override {
    const auto& h = block.header;
    if (h.angles > INT32_MAX || h.columns > INT32_MAX || h.slice_count > INT32_MAX) return too_large();
    sino_.resize(std::max(sino_.size(), std::size_t(h.slice_count) * h.angles * h.columns));
    PILOT_TRY_VOID(cleaner_.line_integrals(block, sino_.data()));
    return find_block_centre(sino_.data(), {block.theta.begin(), block.theta.end()},
                             static_cast<std::int32_t>(h.slice_count), static_cast<std::int32_t>(h.columns));
  }

  Result<void> run(std::span<const FrameView> blocks, std::span<const double> centres,
                   std::span<float> out) override {
    assert(centres.size() == blocks.size());
    const auto& first = blocks.front().header;
    std::size_t slices = 0;
    for (const auto& block : blocks) slices += block.header.slice_count;
    if (first.angles > INT32_MAX || first.columns > INT32_MAX || slices > INT32_MAX) return too_large();
    PILOT_TRY_VOID(prepare(blocks.front()));
    assert(out.size() == slices * first.columns * first.columns);
    // Only grows: shrinking and growing again would fill with zeros each time.
    sino_.resize(std::max(sino_.size(), slices * first.angles * first.columns));
    centres_.clear();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      PILOT_TRY_VOID(
          cleaner_.line_integrals(blocks[i], sino_.data() + centres_.size() * first.angles * first.columns));
      centres_.resize(centres_.size() + blocks[i].header.slice_count, centres[i]);
    }
    pk_error error{};
    if (pk_gridrec_run(plan_.plan.get(), scratch_.get(), sino_.data(), centres_.data(),
                       static_cast<std::int32_t>(slices), out.data(), &error) != PK_OK)
      return kernel_error(error.code, error.message);
    const auto size = static_cast<std::int32_t>(first.columns);
    if (circle_ &&
        pk_circ_mask(out.data(), static_cast<std::int32_t>(slices), size, size, *circle_, 0, &error) != PK_OK)
      return kernel_error(error.code, error.message);
    return pilot::ok();
  }

 private:
  // Plan and scratch for the block's shape; kept while the shape stays.
  Result<void> prepare(const FrameView& block) {
    PILOT_TRY(auto plan, plans_.get(static_cast<std::int32_t>(block.header.angles),
                                    static_cast<std::int32_t>(block.header.columns), block.theta));
    if (plan.plan == plan_.plan && scratch_) return pilot::ok();
    pk_gridrec_scratch* scratch = nullptr;
    pk_error error{};
    if (pk_gridrec_scratch_create(plan.plan.get(), efficient_slices, &scratch, &error) != PK_OK)
      return kernel_error(error.code, error.message);
    scratch_.reset(scratch);
    plan_ = std::move(plan);
    return pilot::ok();
  }

  static pilot::Error too_large() {
    return pilot::make_error(ErrorCode::usage, "the shape is beyond what the kernels can count");
  }

  Plans& plans_;
  const std::optional<double> circle_;
  BlockCleaner cleaner_;
  Plan plan_;
  std::unique_ptr<pk_gridrec_scratch, ScratchDeleter> scratch_;
  std::vector<float> sino_;
  std::vector<double> centres_;
};

class Gridrec final : public Algorithm {
 public:
  explicit Gridrec(const GridrecParameters& parameters) : parameters_(parameters), plans_(parameters) {}

  formats::VolumeDescription volume_of(const FrameHeader& header) const override {
    formats::VolumeDescription d;
    d.run_id = hexadecimal(header.run_id);
    d.scan_id = header.scan_id;
    d.slices = header.slices_total;
    d.rows = d.columns = header.columns;
    d.angles = header.angles;
    d.algorithm = "gridrec";
    d.filter = parameters_.filter;
    d.padding = parameters_.padding;
    d.centre = parameters_.centre.value_or(parameters_.find_centre ? not_known : header.centre);
    d.centre_source = parameters_.centre ? "option" : "message";
    d.parameters = parameters();
    return d;
  }

  std::unique_ptr<Reconstructor> make_reconstructor() override {
    return std::make_unique<GridrecReconstructor>(plans_, parameters_);
  }

  std::uint32_t slices_per_call() const override { return efficient_slices; }

  std::string parameters() const override {
    const auto& p = parameters_;
    auto text = fmt::format("gridrec filter={} cutoff={} order={} padding={} edge={} centre={}", p.filter,
                            p.filter_cutoff, p.filter_order, p.padding, p.repeat_edges ? "repeat" : "zero",
                            p.centre        ? fmt::format("{}", *p.centre)
                            : p.find_centre ? "auto"
                                            : "message");
    if (p.cleaning.zingers) text += fmt::format(" zingers={}", *p.cleaning.zingers);
    if (p.cleaning.rings) text += fmt::format(" rings={}", *p.cleaning.rings);
    if (p.circle) text += fmt::format(" circle={}", *p.circle);
    return text;
  }

 private:
  const GridrecParameters parameters_;
  Plans plans_;
};

pilot::Error out_of_range(std::string_view what, double value, std::string_view range) {
  return pilot::make_error(ErrorCode::usage, fmt::format("{} {} is out of range", what, value),
                           fmt::format("it can be {}", range));
}

}  // namespace

// In the order of pk_filter.
const std::vector<std::string>& gridrec_filters() {
  static const std::vector<std::string> names = {"none", "ramlak",  "shepp",  "cosine",
                                                 "hann", "hamming", "parzen", "butterworth"};
  return names;
}

Result<std::unique_ptr<Algorithm>> make_gridrec(const GridrecParameters& p) {
  const auto& names = gridrec_filters();
  if (std::find(names.begin(), names.end(), p.filter) == names.end())
    return pilot::make_error(ErrorCode::usage, fmt::format("there is no filter '{}'", p.filter),
                             pilot::suggestion(p.filter, names));
  if (!(p.padding >= 1 && p.padding <= 8)) return out_of_range("padding", p.padding, "1 to 8");
  if (!(p.filter_cutoff > 0 && p.filter_cutoff <= 0.5))
    return out_of_range("the filter's cut-off", p.filter_cutoff, "above 0, up to 0.5 cycles per bin");
  if (!(p.filter_order > 0)) return out_of_range("the filter's order", p.filter_order, "above 0");
  if (p.circle && !(*p.circle > 0 && *p.circle <= 2))
    return out_of_range("the circle", *p.circle, "above 0, up to 2 (1: as wide as the picture)");
  PILOT_TRY_VOID(check(p.cleaning));
  return std::unique_ptr<Algorithm>(std::make_unique<Gridrec>(p));
}

}  // namespace miniapps::processors
