//! Authentication and authorization: passwords, passkeys, sessions, and the checks in front of every route.

pub mod backend;
pub(crate) mod background;
pub mod bearer;
pub mod client_ip;
pub mod device;
pub mod gate;
pub mod guard;
pub mod made_for;
pub mod origin;
mod required_factor;
pub mod retry_later;
pub mod roles;
pub mod session_store;
pub mod sign_in;
pub mod step_cookie;
pub mod trusted_header;
mod unsent;
