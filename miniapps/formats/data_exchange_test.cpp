#include "miniapps/formats/data_exchange.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <numeric>
#include <random>

#include "miniapps/formats/hdf5_handle.hpp"

namespace miniapps::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Files that other tools might have written, with anything left out or wrong.
class ScanFile : public testing::Test {
 protected:
  ScanFile() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("data_exchange_" + std::string(test->name()) + "." + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "scan.h5";
    silence_hdf5();
    file = File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    exchange = Group(H5Gcreate2(file.get(), "exchange", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  ~ScanFile() override {
    close();
    std::filesystem::remove_all(folder);
  }

  template <typename T>
  void put(const char* name, hid_t stored, const std::vector<hsize_t>& extent, const std::vector<T>& values,
           const char* units = nullptr) {
    const hid_t memory = std::is_same_v<T, float>    ? H5T_NATIVE_FLOAT
                         : std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE
                                                     : H5T_NATIVE_INT;
    const Dataspace space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
    const Dataset set(
        H5Dcreate2(exchange.get(), name, stored, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    ASSERT_TRUE(set) << hdf5_reason();
    ASSERT_GE(H5Dwrite(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    if (units == nullptr) return;
    const Datatype type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.get(), H5T_VARIABLE);
    const Dataspace scalar(H5Screate(H5S_SCALAR));
    const Attribute attribute(
        H5Acreate2(set.get(), "units", type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
    ASSERT_GE(H5Awrite(attribute.get(), type.get(), &units), 0);
  }

  // 3 angles, 2 slices, 5 columns; value = 100 angle + 10 slice + column + offset.
  void put_data(hid_t stored = H5T_STD_U16LE, float offset = 1000) {
    std::vector<float> values;
    for (int angle = 0; angle < 3; ++angle)
      for (int slice = 0; slice < 2; ++slice)
        for (int column = 0; column < 5; ++column)
          values.push_back(offset + static_cast<float>(100 * angle + 10 * slice + column));
    put("data", stored, {3, 2, 5}, values);
  }
  void put_flats_and_darks() {
    std::vector<int> flats(20), darks(10, 7);
    std::iota(flats.begin(), flats.begin() + 10, 2000);  // frame 0: 2000 ... 2009
    std::iota(flats.begin() + 10, flats.end(), 2100);    // frame 1: 2100 ... 2109
    put("data_white", H5T_STD_U16LE, {2, 2, 5}, flats);
    put("data_dark", H5T_STD_U16LE, {1, 2, 5}, darks);
  }
  void put_theta() { put("theta", H5T_IEEE_F64LE, {3}, std::vector<double>{0, 60, 120}, "degrees"); }

  void close() {
    exchange.reset();
    file.reset();
  }
  pilot::Result<DataExchangeFile> open(const DataExchangeOptions& options = {}) {
    close();
    return DataExchangeFile::open(path, options);
  }
  std::string why_refused(const DataExchangeOptions& options = {}) {
    const auto scan = open(options);
    return scan ? "accepted" : scan.error().text();
  }

  std::filesystem::path folder, path;
  File file;
  Group exchange;
};

template <typename T>
std::vector<T> values_of(const ScanBlock& block) {
  std::vector<T> values(block.data.size() / sizeof(T));
  std::memcpy(values.data(), block.data.data(), block.data.size());
  return values;
}

TEST_F(ScanFile, IsReadInSinogramOrder) {
  put_data();
  put_flats_and_darks();
  put_theta();
  const auto scan = open();
  ASSERT_TRUE(scan) << scan.error().text();
  EXPECT_EQ(scan.value().shape(), (ScanShape{3, 2, 5}));
  EXPECT_EQ(scan.value().dtype(), DataType::u16);
  EXPECT_TRUE(scan.value().has_flats());
  EXPECT_TRUE(std::isnan(scan.value().centre()));
  EXPECT_THAT(scan.value().notes(), IsEmpty());
  EXPECT_NEAR(scan.value().theta()[1], std::numbers::pi / 3, 1e-6);

  const auto block = scan.value().read(1, 1).value();
  EXPECT_THAT(values_of<std::uint16_t>(block), ElementsAre(1010, 1011, 1012, 1013, 1014, 1110, 1111, 1112,
                                                           1113, 1114, 1210, 1211, 1212, 1213, 1214));
  EXPECT_THAT(block.flat, ElementsAre(2055, 2056, 2057, 2058, 2059)) << "the mean over frames, not over rows";
  EXPECT_THAT(block.dark, ElementsAre(7, 7, 7, 7, 7));
  const auto both = values_of<std::uint16_t>(scan.value().read(0, 2).value());
  EXPECT_EQ(both[0], 1000);
  EXPECT_EQ(both[5], 1100);
  EXPECT_EQ(both[15], 1010);
}

TEST_F(ScanFile, TakesAnyNumericType) {
  put_data(H5T_STD_U8BE, 0);
  EXPECT_EQ(open().value().dtype(), DataType::u16);
}

TEST_F(ScanFile, BigEndianAndWideTypesBecomeFloats) {
  put_data(H5T_STD_I32BE, 100'000);
  put_flats_and_darks();
  put_theta();
  const auto scan = open();
  EXPECT_EQ(scan.value().dtype(), DataType::f32);
  EXPECT_THAT(scan.value().notes(), ElementsAre(HasSubstr("32-bit integers: sent as f32")));
  EXPECT_EQ(values_of<float>(scan.value().read(0, 1).value())[5], 100'100.0F);
}

TEST_F(ScanFile, SignedSixteenBitKeepsItsSign) {
  put_data(H5T_STD_I16LE, -50);
  put_flats_and_darks();
  const auto scan = open();
  EXPECT_EQ(scan.value().dtype(), DataType::f32);
  EXPECT_EQ(values_of<float>(scan.value().read(0, 1).value())[0], -50.0F);
}

TEST_F(ScanFile, MissingThetaIsHalfATurnBothEndsIncluded) {
  put_data();
  put_flats_and_darks();
  const auto scan = open();
  EXPECT_THAT(scan.value().theta(), ElementsAre(0, testing::FloatNear(std::numbers::pi / 2, 1e-6),
                                                testing::FloatNear(std::numbers::pi, 1e-6)));
  EXPECT_THAT(scan.value().notes(),
              ElementsAre(HasSubstr("has no /exchange/theta: taking 3 angles from 0 to 180 "
                                    "degrees, both included, as TomoPy does")));
}

TEST_F(ScanFile, AGivenRangeReplacesTheta) {
  put_data();
  put_flats_and_darks();
  put("theta", H5T_IEEE_F64LE, {2}, std::vector<double>{0, 1});
  const auto scan = open({.theta_range = std::array{0.0, 90.0}});
  ASSERT_TRUE(scan) << scan.error().text();
  EXPECT_NEAR(scan.value().theta()[2], std::numbers::pi / 2, 1e-6);
}

TEST_F(ScanFile, DegreesWithoutUnitsAreGuessedAndSaid) {
  put_data();
  put_flats_and_darks();
  put("theta", H5T_IEEE_F64LE, {3}, std::vector<double>{0, 60, 120});
  const auto scan = open();
  EXPECT_NEAR(scan.value().theta()[2], 2 * std::numbers::pi / 3, 1e-6);
  EXPECT_THAT(scan.value().notes(),
              ElementsAre(HasSubstr("no units: taken for degrees, since its largest value is 120")));
  const auto told = DataExchangeFile::open(path, {.theta_unit = AngleUnit::radians});
  EXPECT_EQ(told.value().theta()[2], 120);
  EXPECT_THAT(told.value().notes(), IsEmpty());
}

TEST_F(ScanFile, RadiansWithoutUnitsAreGuessedAndSaid) {
  put_data();
  put_flats_and_darks();
  put("theta", H5T_IEEE_F32LE, {3, 1}, std::vector<float>{0, 1, -2});
  const auto scan = open();
  EXPECT_EQ(scan.value().theta()[2], -2);
  EXPECT_THAT(scan.value().notes(),
              ElementsAre(HasSubstr("taken for radians, since its largest value is 2 ")));
}

TEST_F(ScanFile, UnknownUnitsAreRefused) {
  put_data();
  put("theta", H5T_IEEE_F64LE, {3}, std::vector<double>{0, 1, 2}, "gon");
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/theta has units 'gon'; say which with --theta-units"));
}

TEST_F(ScanFile, ThetaOfAnotherLengthIsRefused) {
  put_data();
  put("theta", H5T_IEEE_F64LE, {4}, std::vector<double>{0, 1, 2, 3}, "radians");
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/theta has 4 values, /exchange/data 3 projections"));
}

TEST_F(ScanFile, NanInThetaIsRefused) {
  put_data();
  put("theta", H5T_IEEE_F64LE, {3}, std::vector<double>{0, NAN, 2}, "radians");
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/theta is nan at projection 1"));
}

TEST_F(ScanFile, ConstantThetaIsSaid) {
  put_data();
  put_flats_and_darks();
  put("theta", H5T_IEEE_F64LE, {3}, std::vector<double>{0, 0, 0}, "degrees");
  EXPECT_THAT(open().value().notes(), ElementsAre(HasSubstr("theta is 0 for all projections")));
}

TEST_F(ScanFile, MissingDarksAreZeroAndSaid) {
  put_data();
  put_theta();
  put("data_white", H5T_STD_U16LE, {2, 5}, std::vector<int>(10, 3000));
  const auto scan = open();
  const auto block = scan.value().read(0, 2).value();
  EXPECT_THAT(block.dark, testing::Each(0.0F));
  EXPECT_THAT(block.flat, testing::Each(3000.0F));
  EXPECT_THAT(scan.value().notes(), ElementsAre(HasSubstr("has no /exchange/data_dark: taken for zero")));
}

TEST_F(ScanFile, MissingFlatsOfCountsAreTakenFromTheAir) {
  put_data();
  put_theta();
  const auto scan = open();
  EXPECT_TRUE(scan.value().has_flats());
  EXPECT_THAT(scan.value().notes(), ElementsAre(HasSubstr("mean of its 4 outermost columns on both sides")));
  EXPECT_THAT(scan.value().read(0, 1).value().flat, testing::Each(1102.0F));
  EXPECT_THAT(scan.value().read(1, 1).value().flat, testing::Each(1112.0F));
}

TEST_F(ScanFile, MissingFlatsOfTransmissionAreNotNeeded) {
  put("data", H5T_IEEE_F32LE, {3, 2, 5}, std::vector<float>(30, 0.5F));
  put_theta();
  const auto scan = open();
  EXPECT_FALSE(scan.value().has_flats());
  EXPECT_THAT(scan.value().notes(), ElementsAre(HasSubstr("taken for normalised transmission")));
  EXPECT_THAT(scan.value().read(0, 1).value().flat, IsEmpty());
}

// tomopy#568: a single flat [y][x] was averaged over y.
TEST_F(ScanFile, OneFlatFrameIsNotAveragedOverItsRows) {
  put_data();
  put_theta();
  std::vector<int> flat(10);
  std::iota(flat.begin(), flat.end(), 500);
  put("data_white", H5T_STD_U16LE, {2, 5}, flat);
  const auto scan = open();
  EXPECT_THAT(scan.value().read(1, 1).value().flat, ElementsAre(505, 506, 507, 508, 509));
}

TEST_F(ScanFile, FlatsOfASingleRowMayBeTwoDimensional) {
  put("data", H5T_STD_U16LE, {3, 1, 5}, std::vector<int>(15, 100));
  put_theta();
  put("data_white", H5T_STD_U16LE, {2, 5}, std::vector<int>{1, 2, 3, 4, 5, 3, 4, 5, 6, 7});
  EXPECT_THAT(open().value().read(0, 1).value().flat, ElementsAre(2, 3, 4, 5, 6));
}

TEST_F(ScanFile, FlatsOfAnotherDetectorAreRefused) {
  put_data();
  put_theta();
  put("data_white", H5T_STD_U16LE, {1, 2, 6}, std::vector<int>(12, 1));
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/data_white is 1 x 2 x 6, but the projections are 2 x 5"));
}

TEST_F(ScanFile, NanInFlatsIsLeftOutOfTheMean) {
  put_data();
  put_theta();
  std::vector<float> flats(20, 10);
  flats[3] = NAN;
  flats[13] = 30;
  put("data_white", H5T_IEEE_F32LE, {2, 2, 5}, flats);
  EXPECT_THAT(open().value().read(0, 1).value().flat, ElementsAre(10, 10, 10, 30, 10));
}

TEST_F(ScanFile, AFlatWithoutAnyValueIsRefused) {
  put_data();
  put_theta();
  std::vector<float> flats(10, 10);
  flats[8] = NAN;
  put("data_white", H5T_IEEE_F32LE, {1, 2, 5}, flats);
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/data_white has no finite value at slice 1, column 3"));
}

TEST_F(ScanFile, NanInDataIsRefusedWithItsPlace) {
  std::vector<float> values(30, 100);
  values[17] = NAN;  // projection 1, slice 1, column 2
  values[28] = INFINITY;
  put("data", H5T_IEEE_F32LE, {3, 2, 5}, values);
  put_flats_and_darks();
  put_theta();
  const auto scan = open();
  const auto block = scan.value().read(0, 2);
  ASSERT_FALSE(block);
  EXPECT_THAT(block.error().text(),
              HasSubstr("2 values that are not finite (NaN or infinite) in slices 0 to 1, the "
                        "first at projection 1, slice 1, column 2; --replace-nan"));
  EXPECT_TRUE(scan.value().read(0, 1)) << "the other slice is whole";
  const auto replaced = DataExchangeFile::open(path, {.replace_not_finite = 5.0F});
  EXPECT_EQ(values_of<float>(replaced.value().read(0, 2).value())[15 + 5 + 2], 5.0F);
}

TEST_F(ScanFile, TwoDimensionalDataIsRefused) {
  put("data", H5T_STD_U16LE, {3, 10}, std::vector<int>(30, 1));
  EXPECT_THAT(why_refused(),
              HasSubstr("/exchange/data is 2-dimensional (3 x 10), it has to be [theta][y][x]; one "
                        "sinogram is stored as [theta][1][x]"));
}

TEST_F(ScanFile, EmptyDataIsRefused) {
  put("data", H5T_STD_U16LE, {0, 2, 5}, std::vector<int>{});
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/data has the size 0 x 2 x 5"));
}

TEST_F(ScanFile, WithoutDataIsRefused) {
  EXPECT_THAT(why_refused(), HasSubstr("has no /exchange/data; it is not a data exchange file; 'h5ls -r"));
}

TEST_F(ScanFile, TextInsteadOfNumbersIsRefused) {
  const Datatype type(H5Tcopy(H5T_C_S1));
  const hsize_t extent[] = {3, 2, 5};
  const Dataspace space(H5Screate_simple(3, extent, nullptr));
  Dataset(H5Dcreate2(exchange.get(), "data", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_THAT(why_refused(), HasSubstr("/exchange/data holds no numbers"));
}

TEST_F(ScanFile, TruncatedFilesAreRefused) {
  put_data();
  put_flats_and_darks();
  close();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THAT(why_refused(),
              testing::AllOf(HasSubstr("truncated file"), HasSubstr("was the copy interrupted?")));
}

TEST_F(ScanFile, OtherFilesAreRefused) {
  close();
  std::ofstream(path) << "not HDF5 at all, but long enough to hold a signature somewhere";
  EXPECT_THAT(why_refused(), HasSubstr("; it is not an HDF5 file"));
  std::filesystem::remove(path);
  const auto scan = DataExchangeFile::open(path);
  EXPECT_EQ(scan.error().code, pilot::ErrorCode::not_found);
  EXPECT_THAT(DataExchangeFile::open(folder).error().message, HasSubstr("cannot read"));
}

// What the writer writes, the reader reads without a guess.
TEST_F(ScanFile, WhatIsWrittenComesBack) {
  close();
  DataExchangeWriter::Content content;
  content.shape = {4, 3, 6};
  content.flat_frames = 2;
  content.dark_frames = 1;
  content.theta = {0, 0.5, 1.0, 1.5};
  content.centre = 2.25;
  auto writer = DataExchangeWriter::create(path, content);
  ASSERT_TRUE(writer) << writer.error().text();
  for (std::uint16_t slice = 0; slice < 3; ++slice) {
    std::vector<std::uint16_t> data(24);
    std::iota(data.begin(), data.end(), static_cast<std::uint16_t>(100 * slice));
    const std::vector<std::uint16_t> flats{9, 9, 9, 9, 9, 9, 11, 11, 11, 11, 11, slice}, darks(6, slice);
    ASSERT_TRUE(writer.value().write_slice(slice, data, flats, darks));
  }
  ASSERT_TRUE(writer.value().finish());

  const auto scan = DataExchangeFile::open(path);
  ASSERT_TRUE(scan) << scan.error().text();
  EXPECT_THAT(scan.value().notes(), IsEmpty());
  EXPECT_EQ(scan.value().shape(), content.shape);
  EXPECT_EQ(scan.value().centre(), 2.25);
  EXPECT_FLOAT_EQ(scan.value().theta()[3], 1.5F);
  const auto block = scan.value().read(2, 1).value();
  std::vector<std::uint16_t> expected(24);
  std::iota(expected.begin(), expected.end(), std::uint16_t{200});
  EXPECT_EQ(values_of<std::uint16_t>(block), expected);
  EXPECT_THAT(block.flat, ElementsAre(10, 10, 10, 10, 10, 5.5F));
  EXPECT_THAT(block.dark, testing::Each(2.0F));
}

TEST_F(ScanFile, AnUnfinishedFileLeavesNothing) {
  close();
  std::filesystem::remove(path);
  {
    DataExchangeWriter::Content content;
    content.shape = {1, 1, 1};
    content.theta = {0};
    ASSERT_TRUE(DataExchangeWriter::create(path, content));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_THAT(DataExchangeWriter::create(folder / "none" / "x.h5", {}).error().message,
              HasSubstr("cannot write"));
}

// Cut anywhere: an error, never a crash.
TEST_F(ScanFile, SurvivesBeingCutAnywhere) {
  put_data();
  put_flats_and_darks();
  put_theta();
  close();
  const auto size = std::filesystem::file_size(path);
  for (auto left = size - 1; left > 0; left -= std::min<std::uintmax_t>(left, 97)) {
    std::filesystem::resize_file(path, left);
    const auto scan = DataExchangeFile::open(path);
    EXPECT_FALSE(scan) << left << " of " << size << " bytes";
  }
}

}  // namespace
}  // namespace miniapps::formats
