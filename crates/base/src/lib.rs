//! What all server code needs: typed settings, the clock, blocking work, tasks, permits, normalized text, prompts, boxed futures, the instruments of telemetry and
//! the HTTP client. It knows neither the database nor the platform.

pub mod allocator;
pub mod blocking;
pub mod boxed;
pub mod clock;
pub mod config;
pub mod failures;
pub mod http_client;
pub mod instruments;
pub mod nfc;
pub mod prompt;
pub mod query_permits;
pub mod settings;
pub mod tasks;
pub mod traces;
pub mod turns;
pub mod username;
pub mod waits;
pub mod work;
