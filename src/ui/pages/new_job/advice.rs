//! How Docket handles a prompt, and how to write a good one.

use leptos::prelude::*;

use model::links;

pub(super) fn advice(project: &str) -> AnyView {
    view! {
        <h2>"What happens next"</h2>
        <ol>
            <li>"Your text is saved first, then sent to the agent at most once."</li>
            <li>"The agent works on the repository. You can leave the page meanwhile."</li>
            <li>"When files changed, a pull request appears here. Ask for more with a follow-up."</li>
        </ol>
        <h2>"A good prompt"</h2>
        <ul>
            <li>"names the pages and what is wrong with them,"</li>
            <li>"says what must stay as it is,"</li>
            <li>"and is small enough to review in one sitting."</li>
        </ul>
        <h2>"Other ways"</h2>
        <ul>
            <li><a href=links::new_batch(project, "")>"The same for many pages"</a></li>
            <li><a href=links::import_job(project)>"Import a job that was started elsewhere"</a></li>
        </ul>
    }
    .into_any()
}
