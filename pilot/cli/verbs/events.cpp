// pilot events
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "pilot/cli/output.hpp"
#include "pilot/cli/signals.hpp"
#include "pilot/cli/verbs/verbs.hpp"
#include "pilot/codec/codec.hpp"
#include "pilot/store/event_log.hpp"

namespace pilot::cli {
namespace {

struct EventsFlags {
  std::string name;
  bool follow = false;
};

void print_event(const model::Event& event, bool json) {
  if (json) {
    nlohmann::ordered_json document{{"schema", "pilot.event/1"}};
    document.update(nlohmann::ordered_json::parse(codec::encode(event)));
    print(document.dump() + "\n");
  } else {
    print(fmt::format("{}  {}\n", iso8601(event.at), model::describe(event.body)));
  }
}

Result<int> run_events(Session& session, const EventsFlags& flags) {
  PILOT_TRY(const std::string name, pilot_name(flags.name));
  PILOT_TRY(const store::PilotFolder folder, store::PilotFolder::open(name));
  std::uint64_t position = 0;
  for (;;) {
    auto content = store::read_event_log(folder.path() / "events.jsonl", position);
    if (!content.has_value() && position > 0 && content.error().code == ErrorCode::not_found)
      return 0;  // archived
    if (!content.has_value()) return content.error();
    for (const model::Event& event : content.value().events) print_event(event, session.json);
    std::fflush(stdout);
    position = content.value().complete_bytes;
    if (!flags.follow) return 0;
    if (signal_received() != 0) return 128 + signal_received();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Command events_command(Session& session) {
  auto flags = std::make_shared<EventsFlags>();
  Command command{"events", "Print what happened to a pilot"};
  command.description = "With --json each event is a line of JSON, schema pilot.event/1.";
  command.examples = {"pilot events demo", "pilot events demo -f", "pilot events demo --json | jq -r .kind"};
  command.arguments = {pilot_argument(flags->name, false)};
  command.options = {
      {"-f,--follow", "", "go on with what happens, until Ctrl-C or the pilot's end", &flags->follow}};
  command.run = [&session, flags] { return run_events(session, *flags); };
  return command;
}

}  // namespace pilot::cli
