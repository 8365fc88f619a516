-- Endpoints to which changes are sent. Times are in milliseconds since the epoch, positions in the feed are REVISION-HEAD.
CREATE TABLE webhooks (
  id              text    NOT NULL PRIMARY KEY,
  url             text    NOT NULL UNIQUE,
  description     text,
  -- Separated by spaces; NULL for all.
  events          text,
  pet_ids         text,
  created_at      bigint  NOT NULL,
  created_by      text,
  -- The secret is derived from the webhook key of this name, the id and the generation.
  key_name        text    NOT NULL,
  generation      bigint  NOT NULL,
  rotated_at      bigint,
  -- Increases when position or filter are set.
  version         bigint  NOT NULL,
  position        text    NOT NULL,
  examined        text,
  sending_to      text,
  failures        bigint  NOT NULL,
  failing_since   bigint,
  next_attempt_at bigint,
  paused_for      text,
  last_success_at bigint,
  last_failure_at bigint,
  last_status     bigint,
  last_problem    text
);

-- The node that sends the deliveries, and until when by the clock of the database.
CREATE TABLE webhook_lease (
  only_row   boolean NOT NULL PRIMARY KEY CHECK (only_row),
  holder     text    NOT NULL,
  held_until bigint  NOT NULL
);
INSERT INTO webhook_lease VALUES (true, '', 0);
