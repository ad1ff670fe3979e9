//! What a page of analytics shows: asks the daily history where it holds the range, else the upstream, and has the answer
//! drawn. The only place outside the router that knows `ui`, and of it only what draws text.

use crate::error::{AppError, ErrorCode};
use crate::model::day::DayRange;
use crate::model::drawn::{Drawn, HistoryNotice};
use crate::model::id::ProjectId;
use crate::model::saved_view::ViewsOf;
use crate::model::selection::Selection;
use crate::server::analytics::{Analytics, question::TableQuestion};
use crate::server::auth::guard::Caller;
use crate::server::saved_views;
use crate::server::upstream::views::ViewsQuestion;
use crate::ui::charts::bar;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::{self, Page};
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::{live, notice, range, saved};
use crate::ui::pages::overview::week;

/// The longest question that is kept under a name.
const KEPT_MAX_BYTES: usize = 2_000;

/// What `address` asks for; in the short form of the overview if `is_week`.
pub async fn reading(
    caller: &Caller,
    project: ProjectId,
    address: &str,
    is_week: bool,
) -> Result<Drawn, AppError> {
    let panel = &caller.panel;
    let query = AnalyticsQuery::parsed(address);
    let now = panel.clock.now();
    let page = Page { project: project.as_str(), query: &query, who: caller.session(), now };
    let from_history = match range::meant(&query, panel.today()) {
        Some(range) if panel.history.missing(&project, range).await?.days == 0 => {
            match daily(caller, &project, &page, range, is_week).await {
                Err(error) if error.code == ErrorCode::NotInHistory => None,
                drawn => Some(drawn?),
            }
        }
        _ => None,
    };
    let drawn = match from_history {
        Some(drawn) => drawn,
        None => {
            let views = panel.views.answer(question(&project, &query, caller)?).await?;
            if is_week { week::live(page.project, &views, now) } else { live::report(&page, &views) }
        }
    };
    let saved = match is_week {
        true => Markup::default(),
        false => saved::saved(&page, &saved_views::list(caller, &project, ViewsOf::Analytics).await?),
    };
    let above = markup("{}{}", &[&bar::patterns(), &saved]);
    Ok(Drawn { above: above.into_html() + &drawn.above, ..drawn })
}

/// A question of the analytics page as it is kept under a name. What is wrong with it is said without a call.
pub fn kept(caller: &Caller, project: &ProjectId, address: &str) -> Result<String, AppError> {
    let query = AnalyticsQuery::parsed(address);
    table(project, &query, caller)?;
    Selection::parse(query.path.as_deref()).map_err(AppError::bad_input)?;
    let kept = saved::kept(&query, caller.panel.today());
    if kept.len() > KEPT_MAX_BYTES {
        return Err(AppError::bad_input("That is too long to be kept. Choose a shorter search or path."));
    }
    Ok(kept)
}

/// Why the figures of a range are live, and how far the history is.
pub async fn notice(caller: &Caller, project: &ProjectId, address: &str) -> Result<HistoryNotice, AppError> {
    let panel = &caller.panel;
    let range = range::meant(&AnalyticsQuery::parsed(address), panel.today());
    let state = panel.history.state(project).await?;
    let missing = match range {
        Some(range) => Some(panel.history.missing(project, range).await?),
        None => None,
    };
    let may_fetch = caller.session().can_start_jobs();
    Ok(notice::notice(project.as_str(), range, (&state, missing.as_ref()), may_fetch, panel.clock.now()))
}

async fn daily(
    caller: &Caller,
    project: &ProjectId,
    page: &Page<'_>,
    range: DayRange,
    is_week: bool,
) -> Result<Drawn, AppError> {
    let analytics = Analytics::of(&caller.panel);
    let query = page.query;
    let mut question = table(project, query, caller)?;
    question.views.range = range;
    let pages = analytics.pages(&question).await?;
    if let Some(path) = &query.path {
        let report = analytics.page(project, range, path).await?;
        return Ok(daily::one_page(page, &pages, &report));
    }
    let folder = query.folder.as_deref().filter(|folder| *folder != "/").map(|folder| format!("{folder}/*"));
    let trend = analytics.trend(project, range, folder.as_deref()).await?;
    if is_week {
        return Ok(week::daily(page.project, &pages, &trend, page.now));
    }
    let movers = match pages.comparison.is_some() && query.has_movers() {
        true => Some(analytics.movers(project, range).await?),
        false => None,
    };
    Ok(daily::whole(page, &pages, &trend, movers.as_ref()))
}

fn table(project: &ProjectId, query: &AnalyticsQuery, caller: &Caller) -> Result<TableQuestion, AppError> {
    let views = question(project, query, caller)?;
    TableQuestion::parse(views, query.q.as_deref(), query.folder.as_deref(), query.sort.as_deref())
}

fn question(project: &ProjectId, query: &AnalyticsQuery, caller: &Caller) -> Result<ViewsQuestion, AppError> {
    let (from, to) = (query.from.as_deref(), query.to.as_deref());
    let today = caller.panel.today();
    ViewsQuestion::parse(project.clone(), from, to, Some(query.limit), Some(query.offset()), today)
}
