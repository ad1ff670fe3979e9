//! The filters that people keep under a name, over the list, and the forms to keep the present ones.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::saved_views::{RemoveView, SaveView, UpdateView};
use crate::model::job_query::JobQuery;
use crate::model::saved_view::{NAME_MISTAKE, SavedView};
use crate::model::user::Role;
use crate::ui::components::failure;
use crate::ui::components::post_form::confirm;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::post::Post;
use crate::ui::state::session::AskedSession;
use crate::ui::state::toasts::Toasts;

/// The posts of the forms about saved views.
#[derive(Clone, Copy)]
pub(super) struct Keeping {
    save: Post,
    update: Post,
    remove: Post,
}

impl Keeping {
    /// `views` are asked for again after each change.
    pub(super) fn new(views: Asked<Vec<SavedView>>) -> Self {
        let [save, update, remove] = [
            Post::to::<SaveView>(NAME_MISTAKE),
            Post::to::<UpdateView>(NAME_MISTAKE),
            Post::to::<RemoveView>(NAME_MISTAKE),
        ];
        let toasts = Toasts::get();
        for (post, what) in [(save, "saved"), (update, "changed"), (remove, "removed")] {
            effect(move || {
                if matches!(post.outcome::<Vec<SavedView>>(), Some(Ok(_))) {
                    toasts.say(format!("The view was {what}"), None);
                    close();
                    views.again();
                }
            });
        }
        Self { save, update, remove }
    }

    fn problem(self) -> AnyView {
        let problem = [self.save, self.update, self.remove].into_iter().find_map(Post::problem);
        failure::of_form(problem)
    }
}

/// The forms close when they have done their work.
fn close() {
    if let Ok(Some(open)) = document().query_selector("details.keep[open]") {
        let _ = open.remove_attribute("open");
    }
}

pub(super) fn saved_views(
    project: &str,
    query: &JobQuery,
    views: &[SavedView],
    session: AskedSession,
    keeping: Keeping,
) -> AnyView {
    let role = session.get().and_then(Result::ok).map_or(Role::Viewer, |session| session.role);
    let now = query.canonical();
    let chips = views.iter().map(|view| {
        let href = format!("{}?{}", links::jobs(project), view.query);
        let whose = (!view.own).then(|| view! { <span class="count">"by " {view.owner.clone()}</span> }.erase());
        view! {
            <li>
                <a class="chip" href=href aria-current=(view.query == now).then_some("true")>{view.name.clone()} {whose}</a>
            </li>
        }
        .erase()
    });
    let chips = (!views.is_empty())
        .then(|| view! { <ul class="chips" aria-label="Saved views">{chips.collect_view()}</ul> }.erase());
    let present = views.iter().find(|view| view.query == now);
    let form = match present {
        Some(view) if view.own => Some(edit(project, view, role, keeping)),
        Some(view) if role >= Role::Admin => Some(remove(project, view, keeping)),
        Some(_) => None,
        None => (!now.is_empty()).then(|| save(project, now, role, keeping)),
    };
    view! {
        <div class="saved-views">{chips} {form}</div>
        {move || keeping.problem()}
    }
    .erase()
}

fn save(project: &str, query: String, role: Role, keeping: Keeping) -> AnyView {
    let share = (role >= Role::Operator).then(|| {
        view! { <label class="with-icon"><input type="checkbox" name="shared" value="true" /> "For everybody"</label> }.erase()
    });
    view! {
        <details class="keep">
            <summary>"Save this view"</summary>
            <form class="keep-form" method="post" action=SaveView::PATH on:submit=keeping.save.submitting()>
                <input type="hidden" name="project" value=project.to_owned() />
                <input type="hidden" name="query" value=query />
                {name("")}
                {share}
                <button type="submit" class="button">"Save view"</button>
            </form>
        </details>
    }
    .erase()
}

fn edit(project: &str, view: &SavedView, role: Role, keeping: Keeping) -> AnyView {
    let (shared, words) =
        if view.shared { ("false", "Keep to myself") } else { ("true", "Share with everybody") };
    let share = (role >= Role::Operator || view.shared).then(|| {
        view! {
            <form method="post" action=UpdateView::PATH on:submit=keeping.update.submitting()>
                {which(project, view)}
                <input type="hidden" name="shared" value=shared />
                <button type="submit" class="button">{words}</button>
            </form>
        }
        .erase()
    });
    view! {
        <details class="keep">
            <summary>"Edit this view"</summary>
            <form class="keep-form" method="post" action=UpdateView::PATH on:submit=keeping.update.submitting()>
                {which(project, view)}
                {name(&view.name)}
                <button type="submit" class="button">"Rename"</button>
            </form>
            <div class="keep-form">{share} {remove(project, view, keeping)}</div>
        </details>
    }
    .erase()
}

fn remove(project: &str, view: &SavedView, keeping: Keeping) -> AnyView {
    let hidden = vec![("project", project.to_owned()), ("view", view.id.clone())];
    let whose = if view.shared { "It goes for everybody: " } else { "Its jobs stay as they are: " };
    let question = view! {
        <p>{whose} <bdi>{view.name.clone()}</bdi></p>
        <button type="submit" class="button">"Remove view"</button>
    };
    confirm("Remove…", keeping.remove, hidden, question.into_any())
}

fn which(project: &str, view: &SavedView) -> AnyView {
    view! {
        <input type="hidden" name="project" value=project.to_owned() />
        <input type="hidden" name="view" value=view.id.clone() />
    }
    .erase()
}

fn name(name: &str) -> AnyView {
    view! {
        <label class="field-label" for="view-name">"Name"</label>
        <input id="view-name" class="field" name="name" required maxlength="60" autocomplete="off" value=name.to_owned() prop:value=name.to_owned() />
    }
    .erase()
}
