//! What the analytics page and the overview show: answers of the daily history where it holds every day of the range, else the
//! upstream's own. Asked for in one go, so that either is there as a whole.

use serde::Deserialize;

use crate::api::analytics::{GetMovers, GetPageReport, GetPages, GetTrend, GetViews};
use crate::api::call::{Answer, Call, call, together};
use crate::api::history::{GetHistoryState, GetMissing};
use crate::error::ErrorCode;
use crate::model::day::DayRange;
use crate::model::history::{HistoryState, Missing, Movers, PageReport, PagesReport, Trend};
use crate::model::views::Views;

/// Live views; or a table with a trend, or with the report of one page.
#[derive(Deserialize)]
pub struct Reading {
    pub views: Option<Views>,
    pub pages: Option<PagesReport>,
    pub trend: Option<Trend>,
    pub movers: Option<Movers>,
    pub page: Option<PageReport>,
}

/// What is asked for, in the words of the address.
#[derive(Clone, Default)]
pub struct Question {
    pub project: String,
    /// The days, if they are a range.
    pub range: Option<DayRange>,
    /// As they were typed, for the upstream.
    pub from: Option<String>,
    pub to: Option<String>,
    pub limit: Option<i64>,
    pub offset: Option<i64>,
    pub q: Option<String>,
    pub sort: Option<String>,
    pub folder: Option<String>,
    /// One page.
    pub path: Option<String>,
    pub with_movers: bool,
}

/// How far the history is, and what it lacks of a range.
#[derive(Deserialize)]
pub struct Progress {
    pub state: HistoryState,
    pub missing: Option<Missing>,
}

pub fn reading(question: Question) -> Call<Reading> {
    Call::of(async move {
        let Some(range) = question.range else { return question.live().await };
        let [from, to] = [range.from(), range.to()].map(|day| day.to_string());
        let missing = GetMissing { project: question.project.clone(), from: from.clone(), to: to.clone() };
        if call(missing).output().await?.days > 0 {
            return question.live().await;
        }
        match question.clone().daily(from, to).await {
            Err(error) if error.code == ErrorCode::NotInHistory => question.live().await,
            answer => answer,
        }
    })
}

pub fn progress(project: String, range: Option<DayRange>) -> Call<Progress> {
    let mut questions = vec![("state", call(GetHistoryState { project: project.clone() }).into_answer())];
    if let Some(range) = range {
        let [from, to] = [range.from(), range.to()].map(|day| day.to_string());
        questions.push(("missing", call(GetMissing { project, from, to }).into_answer()));
    }
    Call::of(together(questions))
}

impl Question {
    async fn live(self) -> Answer {
        let Self { project, from, to, limit, offset, .. } = self;
        let views = GetViews { project, from, to, limit, offset, refresh: None };
        together(vec![("views", call(views).into_answer())]).await
    }

    async fn daily(self, from: String, to: String) -> Answer {
        let project = || self.project.clone();
        let (from, to) = (|| from.clone(), || to.clone());
        let table = |q, sort, folder, limit, offset| {
            let (from, to) = (Some(from()), Some(to()));
            call(GetPages { project: project(), from, to, q, folder, sort, limit, offset }).into_answer()
        };
        if let Some(path) = self.path.clone() {
            // The table is asked for what it says of the whole range.
            let report = GetPageReport { project: project(), path, from: from(), to: to() };
            let table = table(None, None, None, Some(1), None);
            return together(vec![("pages", table), ("page", call(report).into_answer())]).await;
        }
        let path = self.folder.as_deref().filter(|folder| *folder != "/").map(|folder| format!("{folder}/*"));
        let trend = GetTrend { project: project(), from: from(), to: to(), path };
        let table = table(self.q.clone(), self.sort.clone(), self.folder.clone(), self.limit, self.offset);
        let answer = together(vec![("pages", table), ("trend", call(trend).into_answer())]).await?;
        if !self.with_movers || !is_compared(&answer) {
            return Ok(answer);
        }
        let movers = GetMovers { project: project(), from: from(), to: to() };
        let movers = call(movers).into_answer().await?;
        Ok(format!("{},\"movers\":{movers}}}", answer.strip_suffix('}').unwrap_or_default()))
    }
}

/// Whether the days before are here too; without them nothing can have changed.
fn is_compared(answer: &str) -> bool {
    let reading: Option<Reading> = serde_json::from_str(answer).ok();
    reading.and_then(|reading| reading.pages).is_some_and(|pages| pages.comparison.is_some())
}
