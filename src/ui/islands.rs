//! What runs in the browser. Each island takes plain serialisable props, works as plain HTML before it is hydrated, and says what it
//! needs of its page. Must not know `pages` or `server`; server functions are reached by [`browser::post`].
//!
//! An island gets the context of the islands around it: those inside [`live::Live`] find a [`live::LiveState`].

pub mod batch_form;
pub mod browser;
pub mod bulk;
pub mod copy_button;
pub mod drafts;
pub mod follow_up;
pub mod job_form;
pub mod job_status;
pub mod json;
pub mod live;
pub mod meters;
pub mod paged_views;
pub mod preferences;
pub mod prompt_field;
pub mod queue;
pub mod ready;
pub mod sending;
pub mod shortcuts;
pub mod sign_out;
pub mod toasts;
pub mod trend;
