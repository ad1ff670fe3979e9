//! What happened during a trend, as a list: jobs that finished, and the team's notes, with plain forms to write and change them.

use leptos::server_fn::ServerFn;

use crate::api::annotations::{RemoveAnnotation, SaveAnnotation};
use crate::model::day::Day;
use crate::model::history::{Annotation, Marker, Trend};
use crate::model::user::Role;
use crate::ui::charts::events::LIST;
use crate::ui::charts::number::counted;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;

pub(super) fn events(page: &Page, trend: &Trend) -> Markup {
    let may_write = page.who.can_start_jobs();
    let jobs = trend.markers.iter().map(|marker| (marker.day, job(page, marker)));
    let notes = trend.annotations.iter().map(|note| (note.day, self::note(page, note)));
    let mut all: Vec<(Day, Markup)> = jobs.chain(notes).collect();
    if all.is_empty() && !may_write {
        return Markup::default();
    }
    all.sort_by_key(|(day, _)| *day);
    let (jobs, notes) = (trend.markers.len() as u64, trend.annotations.len() as u64);
    let heading = format!(
        "△ {}, ◇ {}",
        counted(jobs, "job finished", "jobs finished"),
        counted(notes, "note", "notes")
    );
    let list: Markup = all.into_iter().map(|(_, item)| item).collect();
    let add = may_write.then(|| {
        let day = trend.points.last().map(|last| last.day).unwrap_or(page.today()).to_string();
        let form = form(page, &day, "", Markup::default());
        markup(r#"<details class="note-form"><summary>Add a note</summary>{}</details>"#, &[&form])
    });
    markup(
        r#"<div class="events" id="{}"><h3>{}</h3><ul class="event-list">{}</ul>{}</div>"#,
        &[&LIST, &heading, &list, &add.unwrap_or_default()],
    )
}

fn job(page: &Page, Marker { day, job, title }: &Marker) -> Markup {
    let href = links::job(page.project, job.as_str());
    markup(
        r#"<li class="job-event"><time>{}</time> Job: <a href="{}">{}</a></li>"#,
        &[&day.to_string(), &href, title],
    )
}

fn note(page: &Page, note: &Annotation) -> Markup {
    let who = &page.who;
    let own = who.role == Role::Admin || (who.can_start_jobs() && who.username == note.author);
    let day = note.day.to_string();
    let edit = own.then(|| {
        let id = markup(r#"<input type="hidden" name="id" value="{}">"#, &[&note.id]);
        markup(
            r#"<details class="note-form"><summary>Edit</summary>{}<form method="post" action="{}"><input type="hidden" name="project" value="{}">{}<button class="button" type="submit">Delete this note</button></form></details>"#,
            &[&form(page, &day, &note.text, id.clone()), &RemoveAnnotation::PATH, &page.project, &id],
        )
    });
    markup(
        r#"<li><time>{}</time> {} <span class="faint">{}</span> {}</li>"#,
        &[&day, &note.text, &note.author, &edit.unwrap_or_default()],
    )
}

/// Writes a note, or with an `id` changes one. A note is a sentence; the server says how long it may be.
fn form(page: &Page, day: &str, text: &str, id: Markup) -> Markup {
    markup(
        r#"<form method="post" action="{}"><input type="hidden" name="project" value="{}">{}<label>Day <input class="field" type="date" name="day" value="{}" required></label><label class="note-text">Note <input class="field" name="text" value="{}" placeholder="Version 3 was released" required autocomplete="off"></label><button class="button" type="submit">Save</button></form>"#,
        &[&SaveAnnotation::PATH, &page.project, &id, &day, &text],
    )
}
