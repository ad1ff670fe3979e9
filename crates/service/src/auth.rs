//! Authentication: passwords, passkeys, second factors, API tokens, one-time links, and the limits of attempts.

pub mod api_token;
pub mod arrivals;
pub mod attempts;
pub mod current_password;
pub mod first_admin;
pub mod hashing;
pub mod one_time_link;
pub mod own_path;
pub mod passkeys;
pub mod password;
pub mod presence;
pub mod refusal;
mod refusal_pace;
pub mod refusal_record;
pub mod second_factor;
pub mod shared_key;
pub mod single_sign_on;
pub mod token;
pub mod totp;
