// How long the head agent waits, and how often it looks.
#pragma once

#include <chrono>

#include "pilot/base/clock.hpp"
#include "pilot/base/units.hpp"

namespace pilot::agent {

struct HeadTiming {
  Duration node_silence = std::chrono::seconds(5);  // then a node is lost
  // What is added to it for each node of the pilot: when all connect at once, what one says waits for others.
  Duration silence_per_node = std::chrono::microseconds(500);
  Duration first_relaunch = std::chrono::seconds(1);
  Duration longest_relaunch = std::chrono::seconds(30);
  int most_launches = 32;  // of agents, at a time: each has a thread and tools of its own
  Duration lost_while_stopping = std::chrono::seconds(20);  // then a lost node is not waited for
  Duration stop_margin = std::chrono::seconds(15);          // beyond the services' own grace
  Duration release = std::chrono::minutes(2);               // of a node: its data are removed
  Duration shortest_lead = std::chrono::minutes(1);         // an extension is given back before its end by
  Duration longest_lead = std::chrono::minutes(10);         // a tenth of its time, within these
  Duration leave_again = std::chrono::minutes(1);           // when its data could not move
  Bytes supposed_speed{8 << 20};                            // of moving data, before it was measured
  Duration queue = std::chrono::seconds(10);                // between looks at an extension that waits
  Duration queue_told = std::chrono::minutes(1);            // between notes of why it does
  Duration return_again = std::chrono::seconds(20);         // when the batch system did not answer
  Duration grow = std::chrono::seconds(2);         // between looks at the job that asks for nodes of the base
  Duration orphaned = std::chrono::seconds(30);    // who wants them should have said by then which job it is
  Duration never_asked = std::chrono::minutes(2);  // then there is none
  Duration last_lead = std::chrono::seconds(90);   // the base stops in order, before its agents are told to
  Duration progress = std::chrono::seconds(2);     // of moving data: noted no more often
  Duration standstill = std::chrono::seconds(3);   // between two ticks: then it stood still
  Duration look = std::chrono::minutes(5);         // between looks at a job for its end
  Duration look_urgently = std::chrono::seconds(2);  // while its nodes are silent
  Duration moment = std::chrono::seconds(2);         // an end that moves by less was rounded
  Duration clock_off =
      std::chrono::seconds(10);              // clocks that differ by less agree: messages take their time
  Duration check = std::chrono::seconds(5);  // of a cluster's data
  Duration check_again = std::chrono::seconds(1);  // when something was wrong for the first time
};

}  // namespace pilot::agent
