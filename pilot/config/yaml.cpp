#include "pilot/config/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <exception>
#include <map>
#include <sstream>

#include "pilot/base/file.hpp"

namespace pilot::config {
namespace {

constexpr int most_values = 20000;
constexpr int most_levels = 32;
constexpr std::size_t most_bytes = 1 << 20;

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) {
  throw YAML::ParserException(mark, message);
}

std::string origin_of(const std::string& name, const YAML::Mark& mark) {
  return mark.is_null() ? name : fmt::format("{}:{}:{}", name, mark.line + 1, mark.column + 1);
}

// Builds a Value from the parser's events.  (yaml-cpp's own nodes expand aliases of aliases without
// limit, and its LoadAll() takes all memory on a text that begins with a comma.)
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& name) : name_(name) {}

  Value take() { return std::move(root_); }
  const YAML::Mark& document_start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor, Value{}); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    add(mark, anchor, Value::scalar(text, ""));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias within what it stands for");
    count_values(found->second, mark);
    add(mark, 0, found->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Value::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Value::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Value value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    bool key_next = true;  // of a map
  };

  void count_values(const Value& value, const YAML::Mark& mark) {
    if (++values_ > most_values) refuse(mark, fmt::format("too large: at most {} values", most_values));
    for (const Value& item : value.items) count_values(item, mark);
    for (const Entry& entry : value.entries) count_values(entry.value, mark);
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value::Kind kind) {
    if (levels_.size() >= most_levels)
      refuse(mark, fmt::format("too deeply nested: at most {} levels", most_levels));
    if (!levels_.empty() && levels_.back().value.kind == Value::Kind::map && levels_.back().key_next)
      refuse(mark, "a key must be a word");
    Level level{{}, mark, anchor};
    level.value.kind = kind;
    levels_.push_back(std::move(level));
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    add(level.mark, level.anchor, std::move(level.value));
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    if (++values_ > most_values) refuse(mark, fmt::format("too large: at most {} values", most_values));
    value.origin = origin_of(name_, mark);
    if (anchor != 0) anchors_[anchor] = value;
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = levels_.back(); level.value.kind == Value::Kind::list) {
      level.value.items.push_back(std::move(value));
    } else if (level.key_next) {
      add_key(level.value, mark, value);
      level.key_next = false;
    } else {
      level.value.entries.back().value = std::move(value);
      level.key_next = true;
    }
  }

  static void add_key(Value& map, const YAML::Mark& mark, const Value& key) {
    if (key.kind != Value::Kind::scalar) refuse(mark, "a key must be a word");
    for (const Entry& earlier : map.entries)
      if (earlier.key == key.text)
        refuse(mark, fmt::format("key '{}' stands twice; the first is at {}", key.text, earlier.origin));
    map.entries.push_back(Entry{key.text, key.origin, {}});
  }

  const std::string& name_;
  Value root_;
  YAML::Mark start_ = YAML::Mark::null_mark();
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Value> anchors_;
  int values_ = 0;
};

}  // namespace

Result<Value> parse_yaml(std::string_view text, const std::string& name) {
  if (text.size() > most_bytes) return error_at(name, "is larger than 1 MiB");
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder first(name), second(name);
    if (!parser.HandleNextDocument(first)) return Value{};
    if (parser.HandleNextDocument(second))
      return error_at(origin_of(name, second.document_start()),
                      "more stands here after the end of the document", "one file describes one thing");
    return first.take();
  } catch (const YAML::Exception& error) {
    return error_at(origin_of(name, error.mark), error.msg);
  } catch (const std::exception& error) {  // yaml-cpp also lets those of the standard library through
    return error_at(name, error.what());
  }
}

Result<Value> read_yaml(const std::filesystem::path& path) {
  PILOT_TRY(const std::string text, read_file(path));
  return parse_yaml(text, path.string());
}

}  // namespace pilot::config
