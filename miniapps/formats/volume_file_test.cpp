#include "miniapps/formats/volume_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <png.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "miniapps/formats/grey_png.hpp"
#include "pilot/base/file.hpp"
#include "pilot/base/random.hpp"

namespace miniapps::formats {
namespace {

using testing::HasSubstr;

class VolumeFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("volume-" + pilot::random_hex(6));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static VolumeDescription description() {
    return {.run_id = "00112233445566778899aabbccddeeff",
            .scan_id = 7,
            .slices = 3,
            .rows = 40,
            .columns = 50,
            .angles = 181,
            .algorithm = "gridrec",
            .filter = "shepp",
            .padding = 2,
            .centre = 24.5,
            .centre_source = "message",
            .parameters = "gridrec shepp 2"};
  }
  std::filesystem::path folder_;
};

TEST_F(VolumeFile, LayoutIsReadBackAsItWasMade) {
  const auto path = folder_ / "a.h5";
  const auto made = create_volume_file(path, description());
  ASSERT_TRUE(made.has_value()) << made.error().text();
  const auto read = read_volume_layout(path);
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read.value().description, description());
  EXPECT_EQ(read.value().data_offset, made.value().data_offset);
  EXPECT_EQ(read.value().state_offset, made.value().state_offset);
  EXPECT_EQ(read.value().data_offset % 4096, 0u);
  EXPECT_GE(std::filesystem::file_size(path), made.value().data_offset + 3 * 40 * 50 * 4);
}

TEST_F(VolumeFile, BytesWrittenAtTheOffsetsAreWhatHdf5Reads) {
  const auto path = folder_ / "a.h5";
  const auto layout = create_volume_file(path, description());
  ASSERT_TRUE(layout.has_value());
  std::vector<float> slice(40 * 50);
  for (std::size_t i = 0; i < slice.size(); ++i) slice[i] = static_cast<float>(i) + 0.25f;
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(layout.value().data_offset + slice.size() * 4));
    file.write(reinterpret_cast<const char*>(slice.data()), static_cast<std::streamsize>(slice.size() * 4));
    file.seekp(static_cast<std::streamoff>(layout.value().state_offset + 1));
    file.put(3);
  }
  std::vector<float> volume(3 * 40 * 50, -1);
  std::vector<std::uint8_t> state(3, 9);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  for (auto [name, type, to] :
       {std::tuple<const char*, hid_t, void*>{"reconstruction", H5T_NATIVE_FLOAT, volume.data()},
        {"slice_state", H5T_NATIVE_UINT8, state.data()}}) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to), 0);
    H5Dclose(dataset);
  }
  H5Fclose(file);
  EXPECT_EQ(state, (std::vector<std::uint8_t>{0, 3, 0}));
  EXPECT_EQ(std::vector<float>(volume.begin() + 2000, volume.begin() + 4000), slice);
  EXPECT_EQ(std::vector<float>(volume.begin(), volume.begin() + 2000), std::vector<float>(2000, 0.0f));
}

TEST_F(VolumeFile, SameDescriptionSameBytes) {
  ASSERT_TRUE(create_volume_file(folder_ / "a.h5", description()).has_value());
  ASSERT_TRUE(create_volume_file(folder_ / "b.h5", description()).has_value());
  EXPECT_EQ(pilot::read_file(folder_ / "a.h5").value(), pilot::read_file(folder_ / "b.h5").value());
}

TEST_F(VolumeFile, RefusesWhatIsNotAVolume) {
  EXPECT_EQ(read_volume_layout(folder_ / "none.h5").error().code, pilot::ErrorCode::not_found);
  std::ofstream(folder_ / "text.h5") << "no HDF5 in here";
  EXPECT_THAT(read_volume_layout(folder_ / "text.h5").error().message, HasSubstr("is not a volume"));
  const auto made = create_volume_file(folder_ / "text.h5", description());
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("cannot make '"));
  EXPECT_FALSE(create_volume_file(folder_ / "no" / "such" / "a.h5", description()).has_value());
}

TEST(GreyPng, IsReadBackPixelByPixel) {
  std::vector<std::uint8_t> pixels(37 * 21);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7);
  const auto bytes = encode_grey_png(pixels, 37, 21);
  ASSERT_TRUE(bytes.has_value());
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_memory(&image, bytes.value().data(), bytes.value().size()), 0);
  EXPECT_EQ(image.width, 37u);
  EXPECT_EQ(image.height, 21u);
  EXPECT_EQ(image.format, static_cast<png_uint_32>(PNG_FORMAT_GRAY)) << "8-bit grey";
  std::vector<std::uint8_t> read(pixels.size());
  ASSERT_NE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr), 0);
  EXPECT_EQ(read, pixels);
}

}  // namespace
}  // namespace miniapps::formats
