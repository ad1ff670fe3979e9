//! The code that runs in the browser. The server renders every page; islands make parts of it interactive. An island listens to
//! events, calls server functions ([`browser::post`]) and renders the responses with the same components as the server
//! ([`morph`]). It takes plain serializable props, gets its part of the page as `children`, and documents its requirements for
//! the page. Must not use `pages` or `server`.
//!
//! An island inherits the context of the islands around it: inside [`live::Live`] it finds a [`live::LiveState`].

pub mod batch_form;
pub mod browser;
pub mod bulk;
pub mod buttons;
pub mod drafts;
pub mod follow_up;
pub mod in_place;
pub mod job_form;
pub mod json;
pub mod live;
pub mod live_search;
pub mod localized;
pub mod menus;
pub mod meters;
pub mod morph;
pub mod page_suggestions;
pub mod palette;
pub mod picked;
pub mod queue;
pub mod ready;
pub mod selection;
pub mod sending;
pub mod shortcuts;
pub mod toasts;
pub mod trend;
