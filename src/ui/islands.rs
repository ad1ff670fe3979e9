//! The code that runs in the browser. The server renders every page; islands make parts of it interactive. What changes is a signal, and a `view!`
//! shows it. Server functions are called with [`browser::post`]: neither `Resource` nor `ServerAction` nor `ActionForm` is used, because they would
//! make the module up to 60 KB larger (ADR 19, with figures). For the same reason rows and columns stay the server's, and an effect shows a signal in
//! their attributes. Modules that script the DOM without signals say so in their first line. What a page needs only once somebody types or opens the palette is loaded then
//! ([`browser::on_demand`]).
//!
//! An island takes plain serializable props and inherits the context of the islands around it: inside [`live::Live`] it finds a [`live::LiveState`].
//! Must not use `pages` or `server`.

pub mod batch_form;
pub mod bell;
pub mod browser;
pub mod buttons;
pub mod connection;
pub mod follow_up;
pub mod in_place;
pub mod job_badge;
pub mod job_form;
pub mod json;
pub mod live;
pub mod live_search;
pub mod localized;
pub mod menus;
pub mod meters;
pub mod morph;
pub mod palette;
pub mod prompt_form;
pub mod queue;
pub mod ready;
pub mod selection;
pub mod shortcuts;
pub mod toast_region;
pub mod toasts;
pub mod trend;
