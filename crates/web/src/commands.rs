//! The commands of the binary. `command_line` parses their arguments.

pub mod audit;
mod backup;
mod check;
mod copy;
pub mod demo;
pub mod emulator;
mod generate;
mod healthcheck;
pub mod purge;
pub mod restore;
pub mod serve;
pub mod token;
mod upgrade_check;
pub mod user;

pub use backup::backup;
pub use check::check;
pub use copy::copy;
pub use generate::generate;
pub use healthcheck::healthcheck;
pub use restore::restore;
pub use upgrade_check::upgrade_check;

use client::output::print_line;
