//! One page of the documentation with a view of its own: its figures, its trend, and the jobs about it.

use crate::model::drawn::Drawn;
use crate::model::history::{JobEffect, PageReport, PagesReport};
use crate::model::views::ViewCounts;
use crate::ui::charts::number::{ai_share, change, counted, grouped, share};
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::controls::folders_above;
use crate::ui::pages::analytics::daily::{Page, drawn, marked, provenance, rows};
use crate::ui::pages::analytics::{figures, start};

/// `pages` is what the table says of the whole range.
pub(super) fn report(page: &Page, pages: &PagesReport, report: &PageReport) -> Drawn {
    let row = &report.row;
    let folders = folders_above(page, &row.path).map(|link| markup(" / {}", &[&link])).collect::<Markup>();
    let head = markup(
        r#"<div class="one-page" data-path="{}"><nav class="folders" aria-label="Folder"><a href="{}">All pages</a>{}</nav><div class="section-head"><h2>{}</h2>{}</div></div>"#,
        &[
            &row.path,
            &page.query.about(None).href(page.project),
            &folders,
            &row.path,
            &rows::about(row).map(|about| start::button(page, &about)).unwrap_or_default(),
        ],
    );
    let part = format!("{} of all views of these days.", share(row.counts.total, pages.totals.total));
    let change = row.previous.map(|before| (row.compared(), before));
    let part = markup(r#"<p class="provenance">{}</p>"#, &[&part]);
    let figures = figures::compared(row.counts, change);
    let above = [head, figures, part, provenance(page, pages), marked(&pages.marked)];
    drawn(page, &report.trend, above.into_iter().collect(), jobs(page, &report.jobs))
}

fn jobs(page: &Page, jobs: &[JobEffect]) -> Markup {
    if jobs.is_empty() {
        return markup(r#"<p class="none">No job about this page has finished yet.</p>"#, &[]);
    }
    let rows: Markup = jobs.iter().map(|job| effect(page, job)).collect();
    markup(
        r#"<section aria-labelledby="jobs"><h2 id="jobs">Jobs about this page</h2><p class="provenance">Views in the 14 days before and after each job finished. Other things change too: this is no proof of a cause.</p><table class="pages effects"><thead><tr><th scope="col">Job</th><th scope="col">Finished</th><th scope="col" class="numeric">Days</th><th scope="col" class="numeric">Before</th><th scope="col" class="numeric">After</th><th scope="col" class="numeric">Change</th><th scope="col" class="numeric share">AI share</th></tr></thead><tbody>{}</tbody></table></section>"#,
        &[&rows],
    )
}

fn effect(page: &Page, job: &JobEffect) -> Markup {
    let JobEffect { before, after, days, .. } = *job;
    let numbers = match days {
        0 => ["–", "–", "–", "–"].map(str::to_owned),
        _ => [
            grouped(before.total),
            grouped(after.total),
            change(after.total, before.total),
            moved(before, after),
        ],
    };
    let days = match days {
        0 => "none yet".to_owned(),
        days => counted(days.into(), "day", "days"),
    };
    markup(
        r#"<tr><th scope="row" class="path"><a href="{}">{}</a></th><td>{}</td><td class="numeric">{}</td><td class="numeric">{}</td><td class="numeric">{}</td><td class="numeric">{}</td><td class="numeric share">{}</td></tr>"#,
        &[
            &links::job(page.project, job.job.as_str()),
            &job.title,
            &job.finished.to_string(),
            &days,
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &numbers[3],
        ],
    )
}

/// `12% → 31%`.
pub(super) fn moved(before: ViewCounts, after: ViewCounts) -> String {
    format!("{} → {}", ai_share(before), ai_share(after))
}
