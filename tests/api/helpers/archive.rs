//! [`Archive`]: days of the history and finished jobs, written directly into the database, so that tests of reports
//! know the stored data exactly.

use model::day::{Day, DayRange};
use model::page_views::ViewCounts;
use model::time::Timestamp;
use sqlx::{AnyConnection, Connection};

use super::TestApp;
use crate::helpers::work::work;

/// The rows of a day.
pub(crate) type Rows = Vec<(String, ViewCounts)>;

pub(crate) struct Archive<'a> {
    app: &'a TestApp,
    database: AnyConnection,
}

/// A day to store.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) day: Day,
    pub(crate) rows: Rows,
    /// By default the sums of the rows.
    pub(crate) totals: Option<ViewCounts>,
    /// By default the morning after, and the day is final.
    pub(crate) fetched_at: Option<Timestamp>,
    pub(crate) mark: Option<&'static str>,
    pub(crate) packed: bool,
}

pub(crate) fn day(text: &str) -> Day {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn days(from: &str, to: &str) -> Vec<Day> {
    let range = DayRange::new(day(from), day(to)).unwrap();
    (0..range.days()).map(|n| range.from().plus_days(n)).collect()
}

/// Views whose total is correct.
pub(crate) fn counts(human: u64, ai: u64) -> ViewCounts {
    ViewCounts { human, ai, total: human + ai }
}

pub(crate) fn rows(rows: &[(&str, u64, u64)]) -> Rows {
    rows.iter().map(|(path, human, ai)| ((*path).to_owned(), counts(*human, *ai))).collect()
}

impl Written {
    pub(crate) fn new(day: Day, rows: Rows) -> Self {
        Self { day, rows, totals: None, fetched_at: None, mark: None, packed: true }
    }
}

impl<'a> Archive<'a> {
    pub(crate) async fn of(app: &'a TestApp) -> Self {
        Self { app, database: app.ledger().connection().await }
    }

    /// Stores an old day of the project `docs`, in which these pages had views.
    pub(crate) async fn add_pages(&mut self, pages: &[&str]) {
        self.write(day("2020-01-01"), pages.iter().map(|page| ((*page).to_owned(), counts(1, 0))).collect())
            .await;
    }

    /// Stores a complete day of the project `docs`, replacing the previous one.
    pub(crate) async fn write(&mut self, day: Day, rows: Rows) {
        self.put("docs", Written::new(day, rows)).await;
    }

    pub(crate) async fn put(&mut self, project: &str, written: Written) {
        let Written { day, rows, totals, fetched_at, mark, packed } = written;
        let totals = totals.unwrap_or_else(|| rows.iter().map(|(_, counts)| *counts).sum());
        let morning = || format!("{}T06:00:00Z", day.plus_days(1)).parse().unwrap();
        let mut tx = self.database.begin().await.unwrap();
        sqlx::query("DELETE FROM page_views WHERE project = $1 AND day = $2")
            .bind(project.to_owned())
            .bind(day.to_string())
            .execute(&mut *tx)
            .await
            .unwrap();
        for (path, counts) in &rows {
            sqlx::query("INSERT INTO page_paths (project, path) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                .bind(project.to_owned())
                .bind(path.to_string())
                .execute(&mut *tx)
                .await
                .unwrap();
            sqlx::query(
                "INSERT INTO page_views (project, day, path_id, human, ai, total)
                 SELECT $1, $2, id, $4, $5, $6 FROM page_paths WHERE project = $1 AND path = $3",
            )
            .bind(project.to_owned())
            .bind(day.to_string())
            .bind(path.to_string())
            .bind(counts.human as i64)
            .bind(counts.ai as i64)
            .bind(counts.total as i64)
            .execute(&mut *tx)
            .await
            .unwrap();
        }
        sqlx::query(
            "INSERT INTO history_days (project, day, human, ai, total, pages, digest, fetched_at, equal_fetches, mark, final_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10)
             ON CONFLICT (project, day) DO UPDATE SET human = excluded.human, ai = excluded.ai,
             total = excluded.total, pages = excluded.pages, digest = excluded.digest, fetched_at = excluded.fetched_at,
             mark = excluded.mark, final_at = excluded.final_at",
        )
        .bind(project.to_owned())
        .bind(day.to_string())
        .bind(totals.human as i64)
        .bind(totals.ai as i64)
        .bind(totals.total as i64)
        .bind(rows.len() as i64)
        .bind(format!("{rows:?}{totals:?}"))
        .bind(fetched_at.unwrap_or_else(morning).as_millis())
        .bind(mark)
        .bind(fetched_at.is_none().then(|| morning().as_millis()))
        .execute(&mut *tx)
        .await
        .unwrap();
        tx.commit().await.unwrap();
        if packed {
            self.app.state().store.refresh_rollup(&work(), &project.parse().unwrap(), day).await.unwrap();
        }
    }

    /// A job of olga's that finished at a given time, with `state` as its current state; returns its id.
    pub(crate) async fn job(
        &mut self,
        project: &str,
        prompt: &str,
        paths: &[&str],
        state: &str,
        finished: &str,
    ) -> String {
        let at = finished.parse::<Timestamp>().unwrap().as_millis();
        let id = uuid::Uuid::now_v7().to_string();
        let mut tx = self.database.begin().await.unwrap();
        sqlx::query(
            "INSERT INTO jobs (id, project, state, created_at, changed_at, outcome) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(id.clone())
        .bind(project.to_owned())
        .bind(state.to_owned())
        .bind(at - 600_000)
        .bind(at + 60_000)
        .bind(if state == "failed" { "failed" } else { "completed" })
        .execute(&mut *tx)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
             SELECT $1, $1, 0, id, $1, $2, 'accepted', $3, $3 FROM users WHERE name = 'olga'",
        )
        .bind(id.clone())
        .bind(prompt.to_owned())
        .bind(at - 600_000)
        .execute(&mut *tx)
        .await
        .unwrap();
        // It also finished once earlier, as before a follow-up. If archived, it was archived a minute after the end.
        let ends = if state == "failed" { ["failed"; 2] } else { ["completed"; 2] };
        let events = [(at - 300_000, ends[0]), (at, ends[1]), (at + 60_000, "archived")];
        let seen = if state == "archived" { 3 } else { 2 };
        for (n, (at, word)) in events.into_iter().take(seen).enumerate() {
            sqlx::query(
                "INSERT INTO job_events (id, job_id, position, at, state) VALUES ($1, $2, 0, $3, $4)",
            )
            .bind(format!("{id}-{n}"))
            .bind(id.clone())
            .bind(at)
            .bind(word)
            .execute(&mut *tx)
            .await
            .unwrap();
        }
        for path in paths {
            sqlx::query("INSERT INTO job_paths (job_id, path) VALUES ($1, $2)")
                .bind(id.clone())
                .bind(path.to_string())
                .execute(&mut *tx)
                .await
                .unwrap();
        }
        tx.commit().await.unwrap();
        id
    }
}
