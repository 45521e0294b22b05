#include "adaptors/framework/kafka/protocol/wire.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace pilot::adaptors::kafka::protocol {
namespace {

TEST(KafkaWire, IntegersAreBigEndian) {
  Writer out;
  out.int8(-1);
  out.int16(0x0102);
  out.int32(-2);
  out.int64(0x0102030405060708);
  EXPECT_EQ(out.text(), std::string("\xff\x01\x02\xff\xff\xff\xfe\x01\x02\x03\x04\x05\x06\x07\x08", 15));
  Reader in(out.text());
  EXPECT_EQ(in.int8(), -1);
  EXPECT_EQ(in.int16(), 0x0102);
  EXPECT_EQ(in.int32(), -2);
  EXPECT_EQ(in.int64(), 0x0102030405060708);
  EXPECT_TRUE(in.at_end() && !in.failed());
}

TEST(KafkaWire, VarintsComeBack) {
  for (const std::uint32_t value : {0u, 1u, 127u, 128u, 300u, 16383u, 16384u, 0xffffffffu}) {
    Writer out;
    out.varint(value);
    Reader in(out.text());
    EXPECT_EQ(in.varint(), value);
    EXPECT_TRUE(in.at_end() && !in.failed());
  }
  Writer three_hundred;
  three_hundred.varint(300);
  EXPECT_EQ(three_hundred.text(), "\xac\x02");
}

TEST(KafkaWire, AVarintThatNeverEndsOrIsTooLargeFails) {
  Reader endless("\x80\x80\x80\x80\x80\x80\x80");
  endless.varint();
  EXPECT_TRUE(endless.failed());
  Reader large("\xff\xff\xff\xff\x7f");
  EXPECT_EQ(large.varint(), 0u);
  EXPECT_TRUE(large.failed());
}

TEST(KafkaWire, NullAndEmptyDiffer) {
  Writer out;
  out.nullable(std::nullopt);
  out.nullable("");
  out.string("abc");
  EXPECT_EQ(out.text(), std::string("\x00\x01\x04"
                                    "abc",
                                    6));
  Reader in(out.text());
  EXPECT_EQ(in.nullable(), std::nullopt);
  EXPECT_EQ(in.nullable(), "");
  EXPECT_EQ(in.string(), "abc");
}

TEST(KafkaWire, LengthsBeyondTheEndFailWithoutAllocating) {
  Reader text("\xff\xff\xff\xff\x0f");
  EXPECT_EQ(text.string(), "");
  EXPECT_TRUE(text.failed());
  Reader list("\xff\xff\xff\xff\x0f");
  EXPECT_TRUE(list.int32s().empty());
  EXPECT_TRUE(list.failed());
  Reader classic(std::string_view("\x7f\xff\xff\xff", 4));
  EXPECT_EQ(classic.classic_array(), 0u);
  EXPECT_TRUE(classic.failed());
}

TEST(KafkaWire, AfterAFailureAllIsZero) {
  Reader in("\x01");
  EXPECT_EQ(in.int32(), 0);
  EXPECT_EQ(in.int8(), 0);
  EXPECT_EQ(in.string(), "");
  EXPECT_TRUE(in.failed());
}

TEST(KafkaWire, TaggedFieldsAreSkipped) {
  Reader in(std::string_view("\x02\x00\x01x\x05\x02yz\x07", 9));
  in.tags();
  EXPECT_EQ(in.int8(), 7);
  EXPECT_TRUE(in.at_end() && !in.failed());
}

}  // namespace
}  // namespace pilot::adaptors::kafka::protocol
