//! The first steps in a new installation, for administrators.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::checklist::Checklist;
use model::links;

pub(super) fn checklist(project: &str, steps: Checklist) -> AnyView {
    let steps = [
        (
            steps.job,
            "Start a job",
            "The agent edits the docs and opens a pull request.",
            links::new_job(project, "", ""),
        ),
        (
            steps.template,
            "Save a template",
            "For prompts that your team sends again.",
            links::edit_template(project, None),
        ),
        (
            steps.invitation,
            "Invite a person",
            "Each person has an account with a role.",
            links::USERS.to_owned(),
        ),
        (
            steps.webhook,
            "Add a webhook",
            "It notifies other systems when jobs finish.",
            links::WEBHOOKS.to_owned(),
        ),
    ];
    let done = steps.iter().filter(|(is_done, ..)| *is_done).count();
    let total = steps.len();
    let heading = view! { <h2 id="checklist">"Get started " <span class="faint">{format!("{done} of {total} done")}</span></h2> };
    // The last step is one line.
    if done + 1 == total
        && let Some((_, name, purpose, href)) = steps.iter().find(|(is_done, ..)| !is_done)
    {
        return view! {
            <section class="group flex flex-wrap items-baseline gap-x-4" aria-labelledby="checklist">
                {heading}
                <p><a href=href.clone()>{*name}</a> " " <span class="faint">{*purpose}</span></p>
            </section>
        }
        .into_any();
    }
    let steps = steps.into_iter().map(|(is_done, name, purpose, href)| match is_done {
        true => view! {
            <li class="with-icon step-done">
                {icon(icon::CHECK)} <span>{name} <span class="visually-hidden">" (done)"</span></span>
            </li>
        }
        .into_any(),
        false => view! {
            <li class="with-icon">
                {icon(icon::CIRCLE)} <a href=href>{name}</a> <span class="faint">{purpose}</span>
            </li>
        }
        .into_any(),
    });
    view! {
        <section class="group checklist" aria-labelledby="checklist">
            {heading}
            <ul>{steps.collect_view()}</ul>
        </section>
    }
    .into_any()
}
