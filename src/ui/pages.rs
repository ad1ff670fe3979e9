//! The pages, one file or folder a route. Rendered on the server only: what moves in the browser is an island in them. Pages ask the
//! server functions in `api` for their data, and must not know `server`.

pub mod frame;
pub mod home;
pub mod jobs;
pub mod login;
pub mod not_found;
pub mod overview;
mod page_head;
mod request;
mod saved_views_bar;
pub mod set_up;
pub mod settings;
pub mod sign_in_step;
