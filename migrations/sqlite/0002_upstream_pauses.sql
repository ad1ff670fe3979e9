-- Limits in which the upstream asked not to be called before an instant (a 429 with Retry-After).
CREATE TABLE upstream_pauses (
    scope   TEXT   NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);
