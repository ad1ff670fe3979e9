//! What runs in the browser. The server renders every page; an island keeps a part of it alive: it listens, asks the server functions
//! ([`browser::post`]), and shows the answers with the components that the server has rendered the page with ([`morph`]). Each takes plain
//! serialisable props, has that part of the page as its children, and says what it needs of its page. Must not know `pages` or `server`.
//!
//! An island gets the context of the islands around it: those inside [`live::Live`] find a [`live::LiveState`].

pub mod batch_form;
pub mod browser;
pub mod bulk;
pub mod buttons;
pub mod drafts;
pub mod follow_up;
pub mod job_form;
pub mod json;
pub mod live;
pub mod meters;
pub mod morph;
pub mod paged_views;
pub mod queue;
pub mod ready;
pub mod sending;
pub mod shortcuts;
pub mod toasts;
pub mod trend;
