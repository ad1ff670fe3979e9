//! Authentication and authorization: passwords, passkeys, sessions, and the checks in front of every route.
//! Must not know what a request is about.

pub mod address;
pub mod arrivals;
pub mod attempts;
pub mod backend;
mod background;
pub mod current_password;
mod device;
pub mod first_admin;
pub mod gate;
pub mod guard;
pub mod hashing;
pub mod one_time_link;
pub mod origin;
pub mod own_path;
pub mod passkeys;
pub mod password;
pub mod presence;
pub mod refusal;
mod required_factor;
mod retry_later;
pub mod roles;
pub mod second_factor;
pub mod session_store;
pub mod shared_key;
pub mod sign_in;
pub mod single_sign_on;
pub mod step_cookie;
pub mod token;
pub mod totp;
pub mod trusted_header;
pub mod username;
