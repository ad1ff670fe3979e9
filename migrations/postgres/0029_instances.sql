-- The processes that share the database. Each says every few seconds that it lives; what an ended one was sending is unknown.
CREATE TABLE instances (
    id           TEXT COLLATE "C"   NOT NULL PRIMARY KEY,
    started_at   BIGINT NOT NULL,
    seen_at      BIGINT NOT NULL,
    -- Since when it was seen without a gap.
    steady_since BIGINT NOT NULL
);

-- Which of them is sending the message, or sent it.
ALTER TABLE messages ADD COLUMN sender TEXT COLLATE "C";
