#include "learner/checkpoint/checkpoint_options.h"

namespace lie {
void describe(FieldList& fields, CheckpointOptions& options) {
  fields.add("every", options.every,
             {"Steps between checkpoints; a checkpoint is always written after the last step. 0: "
              "only that one. After a kill, the steps after the last checkpoint are learned again.",
              "steps", 0});
  fields.add("keep_last", options.keep_last,
             {"Keep this many of the latest checkpoints; 0: all.", "", 0});
  fields.add(
      "background", options.background,
      {"Write a checkpoint in the background of the next steps, from a copy for which the learners "
       "together hold 12 bytes per parameter in host memory. Off: training waits until it is "
       "written."});
}

}  // namespace lie
