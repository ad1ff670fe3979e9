//! What the upstream answers right now, page by page: it neither sorts nor searches, and knows of totals only. As text.

use leptos::server_fn::ServerFn;

use crate::api::analytics::GetViews;
use crate::model::drawn::Drawn;
use crate::model::views::Views;
use crate::ui::charts::bar;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::{Page, no_views};
use crate::ui::pages::analytics::{figures, table};

pub fn report(page: &Page, answer: &Views) -> Drawn {
    let Page { project, query, .. } = *page;
    if answer.views.is_empty() && !answer.corrected && query.page == 1 {
        return Drawn { live: true, above: no_views(project).into_html(), ..Drawn::default() };
    }
    let above = markup(
        r#"{}<div class="above-table">{}<div class="source">{}{}</div></div>{}{}"#,
        &[
            &figures::compared(answer.totals, None),
            &bar::legend(),
            &figures::provenance(answer, page.now),
            &refresh_form(page),
            &table::table(page, answer),
            &table::pager(project, query, answer.views.len(), answer.has_more, None),
        ],
    );
    Drawn { live: true, above: above.into_html(), ..Drawn::default() }
}

/// Asks the upstream anew, whatever is in memory, and says what that costs.
fn refresh_form(page: &Page) -> Markup {
    let Page { project, query, .. } = *page;
    let (limit, offset) = (query.limit.to_string(), query.offset().to_string());
    let days = [("from", &query.from), ("to", &query.to)];
    let days = days.into_iter().filter_map(|(name, day)| Some((name, day.as_deref()?)));
    let fields = [("project", project), ("limit", &limit), ("offset", &offset), ("refresh", "true")];
    let fields: Markup = fields
        .into_iter()
        .chain(days)
        .map(|(name, value)| markup(r#"<input type="hidden" name="{}" value="{}">"#, &[&name, &value]))
        .collect();
    markup(
        r#"<form class="refresh" method="post" action="{}">{}<button class="quiet-link" type="submit">Refresh (uses 1 question)</button></form>"#,
        &[&GetViews::PATH, &fields],
    )
}
