#include "miniapps/campaign/report_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pilot/base/random.hpp"

namespace miniapps::campaign {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Pair;

constexpr auto source_json =
    R"({"schema":"miniapp.source/1","run_id":"00ff","topic":"frames","sent":5,"acked":4,
"acked_bytes":400,"seconds":2.0,"mb_per_s":0.0002,"messages_per_s":2,
"shape":{"angles":180,"slices":64,"columns":256,"dtype":"u16"}})";

TEST(ReportInput, SourceWithAndWithoutSeries) {
  const auto plain = parse_source(source_json);
  ASSERT_TRUE(plain.has_value()) << plain.error().text();
  EXPECT_EQ(plain.value().acked, 4u);
  EXPECT_EQ(plain.value().columns, 256u);
  EXPECT_FALSE(plain.value().started_unix_ms.has_value());
  std::string text = source_json;
  text.replace(text.rfind('}'), 1,
               R"(,"started_unix_ms":1000,"series":{"interval_s":1,"messages":[1],"bytes":[7,8]}})");
  const auto series = parse_source(text);
  ASSERT_TRUE(series.has_value()) << series.error().text();
  EXPECT_EQ(series.value().started_unix_ms, 1000);
  EXPECT_EQ(series.value().bytes_per_second, (std::vector<std::uint64_t>{7, 8}));
}

TEST(ReportInput, OtherDocumentsAreRefused) {
  EXPECT_THAT(parse_source("[]").error().message, HasSubstr("its schema is not 'miniapp.source/1'"));
  EXPECT_THAT(parse_source("{").error().message, HasSubstr("parse error"));
  EXPECT_THAT(parse_source(R"({"schema":"miniapp.source/1"})").error().message, HasSubstr("run_id"));
  EXPECT_THAT(parse_facts("3").error().message, HasSubstr("not a JSON object"));
}

TEST(ReportInput, FactsAreThePlainValuesWithTheirPaths) {
  const auto facts =
      parse_facts(R"({"pilot":{"name":"demo","nodes":3},"versions":["a","b"],"none":null,"ok":true})");
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(facts.value(), testing::ElementsAre(Pair("pilot name", "demo"), Pair("pilot nodes", "3"),
                                                  Pair("versions", "a, b"), Pair("ok", "true")));
}

TEST(ReportInput, ErrorsNameTheFile) {
  const auto folder = fs::path(testing::TempDir()) / ("input-" + pilot::random_hex(6));
  fs::create_directories(folder);
  std::ofstream(folder / "bad.json") << "{}";
  EXPECT_EQ(read_report_input({folder / "none.json"}, {}, {}).error().code, pilot::ErrorCode::not_found);
  EXPECT_THAT(read_report_input({}, {folder / "bad.json"}, {}).error().message, HasSubstr("bad.json"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace miniapps::campaign
