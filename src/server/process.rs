//! The process: its listeners, background tasks, clock, heartbeat, backups, retention and signals.

pub mod allocator;
pub mod backups;
pub mod blocking;
pub mod clock;
pub mod clock_check;
pub mod failures;
pub mod heartbeat;
pub mod listen;
pub mod reload;
pub mod restore;
pub mod retention;
pub mod service_manager;
pub mod sockets;
pub mod tasks;
pub mod turns;
