//! What a page of analytics shows: asks the daily history where it holds the range, else the upstream, and has the answer
//! drawn. The only place outside the router that knows `ui`, and of it only what draws text.

use leptos_router::params::ParamsMap;

use crate::error::{AppError, ErrorCode};
use crate::model::day::DayRange;
use crate::model::drawn::{Drawn, HistoryNotice, Reading};
use crate::model::id::ProjectId;
use crate::server::analytics::{Analytics, question::TableQuestion};
use crate::server::auth::guard::Caller;
use crate::server::upstream::views::ViewsQuestion;
use crate::ui::pages::analytics::daily::{self, Page};
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::{notice, range};
use crate::ui::pages::overview::week;

/// What `address` asks for; in the short form of the overview if `is_week`.
pub async fn reading(
    caller: &Caller,
    project: ProjectId,
    address: &str,
    is_week: bool,
) -> Result<Reading, AppError> {
    let panel = &caller.panel;
    let query = parsed(address);
    if let Some(range) = range::meant(&query, panel.today())
        && panel.history.missing(&project, range).await?.days == 0
    {
        match daily(caller, &project, &query, range, is_week).await {
            Err(error) if error.code == ErrorCode::NotInHistory => {}
            drawn => return Ok(Reading { views: None, drawn: Some(drawn?) }),
        }
    }
    let views = panel.views.answer(live(project, &query, caller)?).await?;
    Ok(Reading { views: Some(views), drawn: None })
}

/// Why the figures of a range are live, and how far the history is.
pub async fn notice(caller: &Caller, project: &ProjectId, address: &str) -> Result<HistoryNotice, AppError> {
    let panel = &caller.panel;
    let range = range::meant(&parsed(address), panel.today());
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
    query: &AnalyticsQuery,
    range: DayRange,
    is_week: bool,
) -> Result<Drawn, AppError> {
    let analytics = Analytics::of(&caller.panel);
    let now = caller.panel.clock.now();
    let page = Page { project: project.as_str(), query, who: caller.session(), now };
    let mut question = TableQuestion::parse(
        live(project.clone(), query, caller)?,
        query.q.as_deref(),
        query.folder.as_deref(),
        query.sort.as_deref(),
    )?;
    question.views.range = range;
    let pages = analytics.pages(&question).await?;
    if let Some(path) = &query.path {
        let report = analytics.page(project, range, path).await?;
        return Ok(daily::one_page(&page, &pages, &report));
    }
    let folder = query.folder.as_deref().filter(|folder| *folder != "/").map(|folder| format!("{folder}/*"));
    let trend = analytics.trend(project, range, folder.as_deref()).await?;
    if is_week {
        return Ok(week::drawn(project.as_str(), &pages, &trend, now));
    }
    let movers = match pages.comparison.is_some() && query.has_movers() {
        true => Some(analytics.movers(project, range).await?),
        false => None,
    };
    Ok(daily::whole(&page, &pages, &trend, movers.as_ref()))
}

fn live(project: ProjectId, query: &AnalyticsQuery, caller: &Caller) -> Result<ViewsQuestion, AppError> {
    let (from, to) = (query.from.as_deref(), query.to.as_deref());
    ViewsQuestion::parse(project, from, to, Some(query.limit), Some(query.offset()), caller.panel.today())
}

fn parsed(address: &str) -> AnalyticsQuery {
    let mut params = ParamsMap::new();
    for (name, value) in url::form_urlencoded::parse(address.as_bytes()) {
        params.insert(name.into_owned(), value.into_owned());
    }
    AnalyticsQuery::read(&params)
}
