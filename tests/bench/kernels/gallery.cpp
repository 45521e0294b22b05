#include "tests/bench/kernels/gallery.hpp"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "miniapps/generators/scan.hpp"
#include "tests/bench/kernels/cases.hpp"

namespace bench_kernels {
namespace {

constexpr int columns = 256, angles = 300;
using Image = std::vector<float>;

class Gallery {
 public:
  explicit Gallery(std::string folder) : folder_(std::move(folder)) {}

  void row(const std::string& title, const std::string& text) {
    html_ += "<h2>" + title + "</h2><p>" + text + "</p><div class=row>\n";
  }
  void end_row() { html_ += "</div>\n"; }

  // low to high as black to white; `signed_values`: blue, white, red around 0.
  void picture(const std::string& caption, const Image& image, int rows, int cols, double low, double high,
               bool signed_values) {
    std::vector<png_byte> pixels(std::size_t(rows) * cols * 3);
    for (int i = 0; i < rows * cols; ++i) {
      const double t = std::clamp((image[i] - low) / (high - low), 0.0, 1.0);
      const double red = signed_values ? std::min(1.0, 2 * t) : t,
                   blue = signed_values ? std::min(1.0, 2 - 2 * t) : t;
      const double green = signed_values ? std::min(red, blue) : t;
      pixels[i * 3] = static_cast<png_byte>(255 * red);
      pixels[i * 3 + 1] = static_cast<png_byte>(255 * green);
      pixels[i * 3 + 2] = static_cast<png_byte>(255 * blue);
    }
    png_image png;
    std::memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
    png.width = cols;
    png.height = rows;
    png.format = PNG_FORMAT_RGB;
    const std::string name = "picture-" + std::to_string(++count_) + ".png";
    failed_ = failed_ || png_image_write_to_file(&png, (folder_ + "/" + name).c_str(), 0, pixels.data(), 0,
                                                 nullptr) == 0;
    html_ += "<figure><img src='" + name + "' alt=''><figcaption>" + caption + "</figcaption></figure>\n";
  }

  bool finish() {
    std::ofstream out(folder_ + "/index.html");
    out << "<!doctype html><meta charset=utf-8><title>Kernels</title><style>body{font:15px "
           "sans-serif;margin:2em;max-width:1500px}"
           ".row{display:flex;flex-wrap:wrap;gap:14px}figure{margin:0;width:256px}img{width:256px;height:"
           "256px;image-rendering:pixelated;"
           "border:1px solid #ccc}figcaption{font-size:13px;color:#333;padding:4px "
           "0}</style><h1>Kernels</h1>\n"
        << html_;
    return static_cast<bool>(out.flush()) && !failed_;
  }

 private:
  std::string folder_, html_;
  int count_ = 0;
  bool failed_ = false;
};

Image gridrec(const Image& sino, const std::vector<double>& theta, double centre,
              const std::function<void(pk_gridrec_desc&)>& change) {
  pk_gridrec_desc desc;
  pk_gridrec_desc_init(&desc, angles, columns, theta.data());
  change(desc);
  pk_gridrec_plan* plan = nullptr;
  pk_gridrec_scratch* scratch = nullptr;
  pk_gridrec_plan_create(&desc, &plan, nullptr);
  const Owner<pk_gridrec_plan> plan_owner(plan);
  pk_gridrec_scratch_create(plan, 1, &scratch, nullptr);
  const Owner<pk_gridrec_scratch> scratch_owner(scratch);
  Image image(columns * columns);
  pk_gridrec_run(plan, scratch, sino.data(), &centre, 1, image.data(), nullptr);
  return image;
}

Image iterate(const Image& sino, const std::vector<double>& theta, double centre, int method, int subsets,
              int iterations) {
  pk_iterative_desc desc;
  pk_iterative_desc_init(&desc, angles, columns, theta.data());
  desc.method = method;
  desc.subsets = subsets;
  pk_iterative_plan* plan = nullptr;
  pk_iterative_scratch* scratch = nullptr;
  pk_iterative_plan_create(&desc, &plan, nullptr);
  const Owner<pk_iterative_plan> plan_owner(plan);
  pk_iterative_scratch_create(plan, &scratch, nullptr);
  const Owner<pk_iterative_scratch> scratch_owner(scratch);
  Image image(columns * columns);
  pk_iterative_run(plan, scratch, sino.data(), &centre, 1, iterations, 0, image.data(), nullptr, nullptr,
                   nullptr);
  return image;
}

// The part of the picture inside the circle, and its error.
void show(Gallery& gallery, const std::string& name, Image image, const Image& truth) {
  pk_circ_mask(image.data(), 1, columns, columns, 1.0, 0.0f, nullptr);
  Image error(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) error[i] = image[i] - truth[i];
  char quality[64];
  std::snprintf(quality, sizeof quality, ": %.1f dB", psnr(truth, image.data(), columns, false));
  gallery.picture(name + quality, image, columns, columns, -0.05, 0.55, false);
  gallery.picture("error, &minus;0.2 to 0.2", error, columns, columns, -0.2, 0.2, true);
}

void show_exact(Gallery& gallery) {
  const Scan scan = make_scan(angles, columns, 1);
  const double middle = (columns - 1) / 2.0;
  gallery.row("Exact data", "The modified Shepp-Logan phantom, 300 angles of 256 bins, without noise.");
  gallery.picture("phantom, values &minus;0.05 to 0.55", scan.truth, columns, columns, -0.05, 0.55, false);
  gallery.picture("sinogram", scan.sino, angles, columns, 0, 62, false);
  show(gallery, "GridRec, Shepp filter, padded 2x", gridrec(scan.sino, scan.theta, middle, [](auto&) {}),
       scan.truth);
  show(gallery, "GridRec, unpadded", gridrec(scan.sino, scan.theta, middle, [](auto& d) { d.padding = 1; }),
       scan.truth);
  show(gallery, "GridRec, Parzen filter",
       gridrec(scan.sino, scan.theta, middle, [](auto& d) { d.filter = PK_FILTER_PARZEN; }), scan.truth);
  show(gallery, "ML-EM, 50 iterations", iterate(scan.sino, scan.theta, middle, PK_MLEM, 1, 50), scan.truth);
  show(gallery, "OS-EM, 10 subsets, 5 iterations", iterate(scan.sino, scan.theta, middle, PK_OSEM, 10, 5),
       scan.truth);
  show(gallery, "SIRT, 100 iterations", iterate(scan.sino, scan.theta, middle, PK_SIRT, 1, 100), scan.truth);
  gallery.end_row();
}

// A measured sinogram of a simulated scan, in phantom units.
Image measure(const miniapps::generators::Scan& scan, bool clean, double* centre) {
  std::vector<std::uint16_t> raw(angles * columns);
  Image flat(columns), dark(columns), sino(angles * columns);
  scan.raw_slice(0, 0, 0.3, raw);
  scan.mean_flat(0, 20, flat);
  scan.mean_dark(0, 20, dark);
  if (clean) pk_remove_zingers_u16(raw.data(), 1, angles, columns, 8000, nullptr, nullptr);
  pk_normalize_minus_log_u16(raw.data(), flat.data(), dark.data(), 1, angles, columns, 1e-6f, INFINITY,
                             sino.data(), nullptr);
  if (clean) pk_remove_rings(sino.data(), 1, angles, columns, 5, nullptr);
  pk_find_centre(sino.data(), scan.theta().data(), 1, angles, columns, NAN, 0, centre, nullptr);
  for (float& v : sino) v /= static_cast<float>(scan.attenuation_per_bin());
  return sino;
}

void show_measured(Gallery& gallery) {
  miniapps::generators::ScanSpec spec;
  spec.columns = columns;
  spec.angles = angles;
  spec.slices = 1;
  spec.phantom = miniapps::generators::PhantomKind::dynamic;
  spec.centre = 119.25;
  spec.radius = 0.85;
  spec.zingers = 0.002;
  spec.dead_pixels = 0.01;
  const miniapps::generators::Scan scan(spec);
  Image truth(columns * columns);
  miniapps::generators::rasterize(scan.section(0, 0.3), spec.radius * columns / 2, columns, 4, truth);
  double found = 0, ignored = 0;
  const Image dirty = measure(scan, false, &ignored), cleaned = measure(scan, true, &found);
  char text[200];
  std::snprintf(text, sizeof text,
                "20000 photons, axis at 119.25 (found: %.2f), stray photons, dead pixels; the dynamic "
                "phantom at time 0.3.",
                found);
  gallery.row("Simulated measurement", text);
  gallery.picture("phantom", truth, columns, columns, -0.05, 0.55, false);
  gallery.picture("sinogram as measured", dirty, angles, columns, 0, 62, false);
  show(gallery, "GridRec, as measured", gridrec(dirty, scan.theta(), found, [](auto&) {}), truth);
  show(gallery, "GridRec, zingers and rings removed", gridrec(cleaned, scan.theta(), found, [](auto&) {}),
       truth);
  show(gallery, "GridRec, axis not corrected",
       gridrec(cleaned, scan.theta(), (columns - 1) / 2.0, [](auto&) {}), truth);
  show(gallery, "ML-EM, 30 iterations", iterate(cleaned, scan.theta(), found, PK_MLEM, 1, 30), truth);
  gallery.end_row();
}

}  // namespace
}  // namespace bench_kernels

int gallery_main(int argc, char** argv) {
  const std::string whole = argv[0], name = whole.substr(whole.rfind('/') + 1);
  const std::string word = argc == 2 ? argv[1] : "";
  if (word == "--help" || word == "-h") {
    std::printf(
        "Pictures of what the kernels do, side by side in one page: phantoms, sinograms, reconstructions by\n"
        "GridRec, ML-EM, OS-EM and SIRT from exact and from measured data, and their errors.\n\n"
        "Example:\n"
        "  %s out/          # then look at out/index.html\n\n"
        "FOLDER is made if it isn't there; files of the same name in it are replaced.\n",
        name.c_str());
    return 0;
  }
  if (word.empty() || word[0] == '-') {
    std::fprintf(stderr, "%s: %s\nusage: %s FOLDER\n'%s --help' tells more\n", name.c_str(),
                 argc > 2       ? "one folder, please"
                 : word.empty() ? "where to?"
                                : ("unknown option '" + word + "'").c_str(),
                 name.c_str(), name.c_str());
    return 2;
  }
  std::error_code error;
  std::filesystem::create_directories(word, error);
  bench_kernels::Gallery gallery(word);
  std::fputs("reconstructing exact data\n", stderr);
  bench_kernels::show_exact(gallery);
  std::fputs("reconstructing measured data\n", stderr);
  bench_kernels::show_measured(gallery);
  if (gallery.finish()) {
    std::printf("%s\n", (std::filesystem::path(word) / "index.html").c_str());
    return 0;
  }
  std::fprintf(stderr, "%s: cannot write to %s\n", name.c_str(), word.c_str());
  return 1;
}
