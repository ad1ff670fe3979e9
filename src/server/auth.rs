//! Who is asking, and whether they may: passwords, sessions, and the checks in front of every answer.
//! Must not know what is asked for.

pub mod backend;
pub mod first_admin;
pub mod gate;
pub mod guard;
pub mod origin;
pub mod password;
pub mod roles;
pub mod session_store;
pub mod sign_in;
mod token;
