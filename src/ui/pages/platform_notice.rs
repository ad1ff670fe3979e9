//! What administrators are told about the platform.

use leptos::prelude::*;

use crate::ui::components::time::{ago, lasting};
use crate::ui::pages::request;
use model::links;
use model::upstream::{PlatformNotice, PlatformNoticeKind};

/// What happened, since when, and what to do.
pub(super) fn sentence(notice: &PlatformNotice) -> AnyView {
    let project = notice.project.as_str();
    let session = request::session();
    let known = session.projects.iter().find(|known| known.id == notice.project);
    let name = known.map_or_else(|| project.to_owned(), |known| known.name.clone());
    match notice.kind {
        PlatformNoticeKind::NoCredits => view! {
            "The platform has had no AI credits for " <bdi>{name}</bdi> ", or could not check them, " {lasting(notice.since)}
            ". Prompts wait, and Docket tries one every hour. Look at the credits on the platform, then "
            <a href=links::queue(project)>"try the queue now"</a> "."
        }
        .into_any(),
        PlatformNoticeKind::SharedLimit => view! {
            "The platform’s limit was reached by a follow-up in " <bdi>{name}</bdi> " " {ago(notice.since)}
            ", although Docket had counted fewer. It may count job starts and follow-ups together: then set "
            <code>"DOCKET_AGENT_LIMIT=shared"</code> ". Or somebody else uses the same key."
        }
        .into_any(),
    }
}
