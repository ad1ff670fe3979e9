//! What each command of the binary does. Arguments are `main`'s; here is what follows from them.

pub mod audit;
mod backup;
mod check;
pub mod demo;
pub mod emulator;
pub mod serve;
pub mod user;

pub use backup::backup;
pub use check::check;
