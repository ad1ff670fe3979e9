//! The process: its listeners, backups, the reload of its configuration, and signals.

pub mod backups;
pub mod listen;
pub mod reload;
pub mod restore;
pub mod service_manager;
pub mod sockets;
pub mod stop_signals;
