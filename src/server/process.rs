//! The process: its listeners, background tasks, clock, heartbeat, backups, retention and signals.

pub mod backups;
pub mod heartbeat;
pub mod listen;
pub mod reload;
pub mod restore;
pub mod service_manager;
pub mod sockets;
