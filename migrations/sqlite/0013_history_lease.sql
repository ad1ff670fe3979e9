-- Which of the processes on this database keeps the history in step, and until when unless it says so again.
CREATE TABLE history_lease (
    id      BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    holder  TEXT   NOT NULL,
    ends_at BIGINT NOT NULL
);
