//! The events of a trend as a list: jobs that finished, the team's notes, with plain forms to edit them, and changes of what counts as AI.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::events::LIST;
use crate::ui::charts::number::{Cut, capitalized, counted_of};
use crate::ui::components::form::{Hidden, post_form};
use crate::ui::components::localized;
use crate::ui::pages::analytics::AnalyticsPage;
use api::annotations::{RemoveAnnotation, SaveAnnotation};
use model::analytics::ai::AiChange;
use model::analytics::trend::{Annotation, Marker, Trend};
use model::day::Day;
use model::links;
use model::user::Role;

/// Folded, with the form for a note beside it.
pub(super) fn events(context: &AnalyticsPage, trend: &Trend) -> AnyView {
    let jobs = trend.markers.iter().map(|marker| (marker.day, job(context, marker)));
    let notes = trend.annotations.iter().map(|note| (note.day, self::note(context, note)));
    let changes: Vec<_> = trend.ai_changes().collect();
    let built_in = changes.iter().map(|change| (change.day, built_in(*change)));
    let mut all: Vec<(Day, AnyView)> = jobs.chain(notes).chain(built_in).collect();
    all.sort_by_key(|(day, _)| *day);
    let note_count = trend.annotations.len() + changes.len();
    let notes_total = trend.annotations_total + changes.len() as u64;
    let counts = [
        (trend.markers.len(), trend.markers_total, "job", "jobs"),
        (note_count, notes_total, "note", "notes"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let heading: Vec<_> =
        counts.map(|(count, total, one, many)| counted_of(Cut::Newest, count, total, one, many)).collect();
    let list = (!all.is_empty()).then(|| {
        view! {
            <details class="events">
                <summary>{capitalized(&heading.join(", "))}</summary>
                <ul class="event-list" id=LIST>{all.into_iter().map(|(_, item)| item).collect_view()}</ul>
            </details>
        }
    });
    let last = trend.points.last().map_or(context.today, |last| last.day);
    view! { {list} {context.session.can_start_jobs().then(|| add(context, last))} }.into_any()
}

fn job(context: &AnalyticsPage, Marker { day, job, title, merged }: &Marker) -> AnyView {
    let href = links::job(&context.project, job.as_str());
    view! {
        <li class="job-event" data-key=job.to_string()>
            {localized::day(*day)}
            {if *merged { " Merged: " } else { " Job: " }}
            <a href=href>{title.clone()}</a>
        </li>
    }
    .into_any()
}

fn built_in(change: AiChange) -> AnyView {
    view! { <li>{localized::day(change.day)} " " {change.what} " " <span class="faint">"Docket"</span></li> }
        .into_any()
}

fn note(context: &AnalyticsPage, note: &Annotation) -> AnyView {
    let session = &context.session;
    let may_edit =
        session.role == Role::Admin || (session.can_start_jobs() && session.username == note.author);
    view! {
        <li data-key=note.id.clone()>
            {localized::day(note.day)}
            " "
            {note.text.clone()}
            " "
            <span class="faint">{note.author.clone()}</span>
            " "
            {may_edit.then(|| edit(context, note))}
        </li>
    }
    .into_any()
}

/// The form for a new note, with the previous input if that was refused.
fn add(context: &AnalyticsPage, last: Day) -> AnyView {
    let (day, text) = context.note.clone().unwrap_or_else(|| (last.to_string(), String::new()));
    let form = form(vec![("project", context.project.clone())], day, text, "Note saved");
    view! {
        <details class="note-form" open=context.note.is_some()>
            <summary>"Add a note"</summary>
            {form}
        </details>
    }
    .into_any()
}

fn edit(context: &AnalyticsPage, note: &Annotation) -> AnyView {
    let which = vec![("project", context.project.clone()), ("id", note.id.clone())];
    let delete =
        view! { <button class="button" type="submit" data-done="Note deleted">"Delete this note"</button> };
    view! {
        <details class="note-form">
            <summary>"Edit"</summary>
            {form(which.clone(), note.day.to_string(), note.text.clone(), "Note changed")}
            {post_form("", RemoveAnnotation::PATH, which, delete)}
        </details>
    }
    .into_any()
}

/// The fields of a note; the server limits its length.
fn form(hidden: Hidden, day: String, text: String, done: &'static str) -> AnyView {
    let fields = view! {
        <label>"Day " <input class="field" type="date" name="day" value=day required autocomplete="off" /></label>
        <label class="note-text">
            "Note "
            <input class="field" name="text" value=text placeholder="Version 3 was released" required autocomplete="off" />
        </label>
        <button class="button" type="submit" data-done=done>"Save"</button>
    };
    post_form("", SaveAnnotation::PATH, hidden, fields).into_any()
}
