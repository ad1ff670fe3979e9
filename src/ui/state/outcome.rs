//! What happens in the browser after a prompt was sent, whichever form it came from.

use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};

use crate::error::ErrorCode;
use crate::model::job::{Job, JobForm};
use crate::ui::erase::effect;
use crate::ui::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::drafts::Draft;
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;

/// Follows the answers to a form's posts: a sent text is forgotten, an expired session leads to sign-in and back, and a
/// form whose intent was used for another text gets a fresh one. `sent` runs after each success.
pub fn follow(post: Post, draft: Draft, form: Asked<JobForm>, sent: impl Fn(Job) + 'static) {
    let live = Live::get();
    let navigate = use_navigate();
    let location = use_location();
    effect(move || match post.outcome() {
        Some(Ok(job)) => {
            draft.sent();
            live.hurry();
            sent(job);
        }
        Some(Err(error)) if error.code == ErrorCode::Unauthenticated => {
            draft.keep();
            let here = location.pathname.get_untracked() + "?" + &location.search.get_untracked();
            navigate(&links::login(here.trim_end_matches('?')), Default::default());
        }
        Some(Err(error)) if error.code == ErrorCode::IntentReused => form.again(),
        _ => {}
    });
}
