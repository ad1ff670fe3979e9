-- The last time at which Docket saw its clock. Old data is not removed after the clock jumped ahead, until it proves right.
CREATE TABLE clock_state (
    id            BIGINT NOT NULL PRIMARY KEY,
    -- The last heartbeat.
    seen_at       BIGINT NOT NULL,
    -- Since when heartbeats have been regular.
    regular_since BIGINT NOT NULL,
    -- The last heartbeat before the clock jumped ahead, while the clock is not trusted.
    jumped_from   BIGINT
);
