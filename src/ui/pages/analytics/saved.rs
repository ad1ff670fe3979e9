//! The questions that people keep under a name, and plain forms to keep the present one. As text.

use leptos::server_fn::ServerFn;

use crate::api::saved_views::{RemoveView, SaveView, UpdateView};
use crate::model::address::with_query;
use crate::model::day::Day;
use crate::model::preset::Preset;
use crate::model::saved_view::{NAME_MAX_CHARS, SavedView, ViewsOf};
use crate::model::user::Role;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::range;

/// The name of a range that moves with the calendar, in what is kept; an address has its days.
const DAYS: &str = "days";

/// A question as it is kept: from the first page, and the last 7 days are still the last 7 tomorrow.
pub fn kept(query: &AnalyticsQuery, today: Day) -> String {
    let first = query.on_page(1);
    match range::meant(query, today).and_then(|range| Preset::of(range, today)) {
        None => first.address(),
        Some(preset) => {
            let days = if preset == Preset::DEFAULT { "" } else { preset.word() };
            let rest = first.over(None).address();
            let named = with_query("", &[(DAYS, days)]);
            let parts = [named.trim_start_matches('?'), &rest];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&")
        }
    }
}

/// Where a kept question leads today.
fn href(project: &str, kept: &str, today: Day) -> String {
    let query = AnalyticsQuery::parsed(kept);
    let named = url::form_urlencoded::parse(kept.as_bytes()).find(|(name, _)| name == DAYS);
    let preset = named.and_then(|(_, word)| Preset::ALL.into_iter().find(|preset| preset.word() == word));
    let range = preset.map(|preset| preset.range(today));
    match range {
        Some(range) => query.over(Some((range.from().to_string(), range.to().to_string()))).href(project),
        None => query.href(project),
    }
}

/// The views as links, and a form: to keep what is shown, or about the view that it is.
pub fn saved(page: &Page, views: &[SavedView]) -> Markup {
    let now = kept(page.query, page.today());
    let links: Markup = views.iter().map(|view| link(page, view, view.query == now)).collect();
    let links = match views.is_empty() {
        true => Markup::default(),
        false => markup(r#"<ul class="chips" aria-label="Saved views">{}</ul>"#, &[&links]),
    };
    let form = match views.iter().find(|view| view.query == now) {
        Some(view) if view.own => edit(page, view),
        Some(view) if page.who.role >= Role::Admin => remove(page, view),
        None if !now.is_empty() => save(page),
        _ => Markup::default(),
    };
    markup(r#"<div class="saved-views">{}{}</div>"#, &[&links, &form])
}

fn link(page: &Page, view: &SavedView, is_shown: bool) -> Markup {
    let href = href(page.project, &view.query, page.today());
    let whose = match view.own {
        true => Markup::default(),
        false => markup(r#" <span class="count">by {}</span>"#, &[&view.owner]),
    };
    let template = match is_shown {
        true => r#"<li><a class="chip" href="{}" aria-current="true">{}{}</a></li>"#,
        false => r#"<li><a class="chip" href="{}">{}{}</a></li>"#,
    };
    markup(template, &[&href, &view.name, &whose])
}

fn save(page: &Page) -> Markup {
    let share = match page.who.can_start_jobs() {
        true => markup(
            r#"<label class="with-icon"><input type="checkbox" name="shared" value="true"> For everybody</label>"#,
            &[],
        ),
        false => Markup::default(),
    };
    markup(
        r#"<details class="keep"><summary>Save this view</summary><form class="keep-form" method="post" action="{}">{}<input type="hidden" name="query" value="{}">{}{}<button type="submit" class="button">Save view</button></form></details>"#,
        &[&SaveView::PATH, &whose(page), &page.query.address(), &name(""), &share],
    )
}

fn edit(page: &Page, view: &SavedView) -> Markup {
    let (shared, words) =
        if view.shared { ("false", "Keep to myself") } else { ("true", "Share with everybody") };
    let share = match page.who.can_start_jobs() || view.shared {
        true => markup(
            r#"<form method="post" action="{}">{}<input type="hidden" name="shared" value="{}"><button type="submit" class="button">{}</button></form>"#,
            &[&UpdateView::PATH, &which(page, view), &shared, &words],
        ),
        false => Markup::default(),
    };
    markup(
        r#"<details class="keep"><summary>Edit this view</summary><form class="keep-form" method="post" action="{}">{}{}<button type="submit" class="button">Rename</button></form><div class="keep-form">{}{}</div></details>"#,
        &[&UpdateView::PATH, &which(page, view), &name(&view.name), &share, &remove(page, view)],
    )
}

fn remove(page: &Page, view: &SavedView) -> Markup {
    let whose = if view.shared { "It goes for everybody" } else { "The figures stay as they are" };
    markup(
        r#"<details class="confirm"><summary class="button">Remove…</summary><form class="stack" method="post" action="{}">{}<p>{}: <bdi>{}</bdi></p><button type="submit" class="button">Remove view</button></form></details>"#,
        &[&RemoveView::PATH, &which(page, view), &whose, &view.name],
    )
}

fn which(page: &Page, view: &SavedView) -> Markup {
    markup(r#"{}<input type="hidden" name="view" value="{}">"#, &[&whose(page), &view.id])
}

fn whose(page: &Page) -> Markup {
    markup(
        r#"<input type="hidden" name="project" value="{}"><input type="hidden" name="of" value="{}">"#,
        &[&page.project, &ViewsOf::Analytics.as_str()],
    )
}

fn name(name: &str) -> Markup {
    markup(
        r#"<label class="field-label" for="view-name">Name</label><input id="view-name" class="field" name="name" required maxlength="{}" autocomplete="off" value="{}">"#,
        &[&NAME_MAX_CHARS.to_string(), &name],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn days_that_move_with_the_calendar_are_kept_by_name() {
        let (today, later) = (day("2026-11-21"), day("2026-12-05"));
        let kept = |address: &str| kept(&AnalyticsQuery::parsed(address), today);
        let week = kept("from=2026-11-15&to=2026-11-21&sort=share&page=3");
        assert_eq!(week, "days=7&sort=share");
        assert_eq!(href("docs", &week, later), "/p/docs/analytics?from=2026-11-29&to=2026-12-05&sort=share");
        let month = kept("from=2026-11-01&to=2026-11-21");
        assert_eq!(href("docs", &month, later), "/p/docs/analytics?from=2026-12-01&to=2026-12-05");
        assert_eq!(kept("folder=/guides"), "folder=/guides");
        assert_eq!(href("docs", "folder=/guides", later), "/p/docs/analytics?folder=/guides");
        assert_eq!((kept(""), kept("from=2026-10-25&to=2026-11-21&page=2")), (String::new(), String::new()));
    }

    #[test]
    fn other_days_are_kept_as_they_are() {
        let kept = kept(&AnalyticsQuery::parsed("from=2026-11-02&to=2026-11-08&q=a%26b"), day("2026-11-21"));
        assert_eq!(kept, "from=2026-11-02&to=2026-11-08&q=a%26b");
        let later = day("2027-01-01");
        assert_eq!(href("docs", &kept, later), format!("/p/docs/analytics?{kept}"));
    }
}
