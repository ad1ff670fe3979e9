//! Reports of page views: from the daily history where it contains all days of the range, otherwise live from the upstream.

pub mod agreement;
pub mod annotations;
pub mod cursor;
mod effect;
pub mod export;
mod known_figures;
mod period;
pub mod report;
pub mod saved;
pub mod stored;
mod table;
pub mod table_query;
mod trend;

use std::sync::Arc;

use self::effect::Effects;
use self::known_figures::{KnownFigures, KnownFiguresCache};
use self::period::{Comparable, Period, oldest_fetched_at, provisional, updated_at};
use self::table::{Figures, Table};
use self::table_query::TableQuery;
use base::blocking;
use model::analytics::choice::{Compare, Readers};
use model::analytics::effect::{JobEffect, JobEffects, PageEffect};
use model::analytics::pages::{Comparison, Earlier, FallingPages, PageRow, PagesReport};
use model::analytics::report::{MatchingPages, PageReport};
use model::analytics::trend::Trend;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::id::{JobId, ProjectId};
use model::page_views::ViewCounts;
use model::selection::Selection;
use store::Store;
use store::page_views::queries::{FinishedJobs, Paths, Snapshot, SummaryRanges};

/// The number of pages in a list of falling ones.
const FALLING_PAGES: usize = 10;

/// Reports on the daily history. Each report reads one consistent snapshot of the database.
#[derive(Clone)]
pub struct Analytics {
    store: Store,
    known: KnownFiguresCache,
}

impl Analytics {
    pub fn new(store: Store) -> Self {
        Self { store, known: KnownFiguresCache::new() }
    }

    /// The table of pages, with the trend of the same pages.
    ///
    /// # Errors
    /// `NotInHistory`, here and below, if a day of the range is not stored.
    pub async fn report(&self, query: &TableQuery) -> Result<Report, AppError> {
        let (project, range) = (&query.project, query.range);
        let compare = query.compare;
        let compared = compare.period_before(range);
        let ranges = SummaryRanges { shown: range, compared, jobs_max: trend::MARKERS_MAX };
        let summary = self.store.summary(project, ranges).await?;
        let (summary, known) = match self.known.get(project, range, compare, &summary.days) {
            Some(known) => (summary, known),
            None => {
                let mut snapshot = self.store.snapshot(project).await?;
                let summary = snapshot.summary(ranges).await?;
                let known = KnownFigures::read(&mut snapshot, range, compare, summary.days.clone()).await?;
                (summary, self.known.put(project, range, compare, known))
            }
        };
        let KnownFigures { period, comparable, .. } = &*known;
        let (days, finished) = match query.is_about_everything() {
            true => (known.by_day(), summary.finished),
            false => self.narrowed(query, comparable.as_ref()).await?,
        };
        let points = trend::points(period, comparable.as_ref(), &days);
        let trend = trend::trend(points, finished, summary.annotations);
        Ok(Report { pages: pages_report(known, query).await, trend })
    }

    /// The views by day of the pages that match the query, with those of the compared period, and the jobs about these
    /// pages.
    async fn narrowed(
        &self,
        query: &TableQuery,
        comparable: Option<&Comparable>,
    ) -> Result<(Vec<(Day, ViewCounts)>, FinishedJobs), AppError> {
        let range = query.range;
        let mut snapshot = self.store.snapshot(&query.project).await?;
        let first =
            comparable.map_or(range.from(), |comparable| comparable.previous.from().min(range.from()));
        let paths = snapshot.paths(first).await?;
        let wanted = matching_paths(&paths, query).await;
        let mut days = snapshot.sums_by_day(range, &paths, &wanted).await?;
        if let Some(comparable) = comparable {
            days.extend(snapshot.sums_by_day(comparable.previous, &paths, &wanted).await?);
        }
        let selection = match &query.folder {
            Some(folder) if !folder.is_root() => Selection::Folder(folder.clone()),
            _ => Selection::Project,
        };
        let finished = snapshot.finished_jobs_within(range, &selection, trend::MARKERS_MAX).await?;
        Ok((days, finished))
    }

    /// A table of pages, or of the entries of a folder.
    pub async fn pages(&self, query: &TableQuery) -> Result<PagesReport, AppError> {
        Ok(pages_report(Arc::new(self.known_figures(query).await?), query).await)
    }

    /// The pages that match a query, in its order, without folders: the first ones, up to its limit, and the number of all.
    pub async fn matching_pages(&self, query: &TableQuery) -> Result<MatchingPages, AppError> {
        let (known, query) = (self.known_figures(query).await?, query.clone());
        Ok(blocking::run(known.paths.len(), move || matching_pages(&known, &query)).await)
    }

    async fn known_figures(&self, query: &TableQuery) -> Result<KnownFigures, AppError> {
        let (project, range) = (&query.project, query.range);
        let mut snapshot = self.store.snapshot(project).await?;
        let mut days = snapshot.days(range).await?;
        if let Some(compared) = query.compare.period_before(range) {
            days.extend(snapshot.days(compared).await?.into_iter().filter(|day| !range.contains(day.day)));
        }
        KnownFigures::read(&mut snapshot, range, query.compare, days).await
    }

    /// Views by day or week: of the whole project, of the page `path`, or of a folder (`/guides/*`).
    pub async fn trend(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        path: Option<&str>,
    ) -> Result<Trend, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let selection = snapshot.known(Selection::parse(path)?).await?;
        let period = Period::read(&mut snapshot, range).await?;
        let comparable = period.comparable(&mut snapshot, compare).await?;
        let mut days = Vec::new();
        for range in
            [Some(range), comparable.as_ref().map(|comparable| comparable.previous)].into_iter().flatten()
        {
            days.extend(match &selection {
                Selection::Project => {
                    snapshot.days(range).await?.into_iter().map(|day| (day.day, day.totals)).collect()
                }
                _ => by_day(&mut snapshot, range, &selection).await?,
            });
        }
        trend_of(&mut snapshot, &period, comparable.as_ref(), &selection, &days).await
    }

    /// The pages that lost the most views by `readers` against the previous period, which must be stored too; at most [`FALLING_PAGES`].
    pub async fn falling_pages(
        &self,
        project: &ProjectId,
        range: DayRange,
        readers: Readers,
    ) -> Result<FallingPages, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let period = Period::read(&mut snapshot, range).await?;
        let comparable = period.must_be_comparable(&mut snapshot).await?;
        let paths = snapshot.paths(comparable.previous.from().min(range.from())).await?;
        let figures = figures(&mut snapshot, &period, Some(&comparable), &paths).await?;
        let (number, falling) =
            (paths.len(), move || table::falling(&paths, &figures, readers, FALLING_PAGES));
        let (pages, pages_total) = blocking::run(number, falling).await;
        let provisional_days = DayRange::of_days(provisional(period.days()));
        Ok(FallingPages { pages, pages_total, provisional_days, comparison: comparable.into() })
    }

    /// One page or folder: its row, its trend and the jobs about it that have changes, also those outside the range.
    pub async fn page(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        path: &str,
    ) -> Result<PageReport, AppError> {
        let selection = Selection::parse(Some(path))?;
        if selection == Selection::Project {
            return Err(AppError::bad_input("Name the page by its path, such as /quickstart."));
        }
        let mut snapshot = self.store.snapshot(project).await?;
        let selection = snapshot.known(selection).await?;
        let path = if let Selection::Page(path) = &selection { path } else { path };
        let period = Period::read(&mut snapshot, range).await?;
        let comparable = period.comparable(&mut snapshot, compare).await?;
        let days = by_day(&mut snapshot, range, &selection).await?;
        let previous = match &comparable {
            Some(comparable) => Some(by_day(&mut snapshot, comparable.previous, &selection).await?),
            None => None,
        };
        let row = row(path, &days, previous.as_deref(), comparable.as_ref());
        let earlier = earlier_of(&mut snapshot, &period, compare, &selection).await?;
        let days = [days, previous.unwrap_or_default()].concat();
        let trend = trend_of(&mut snapshot, &period, comparable.as_ref(), &selection, &days).await?;
        let (mut jobs, jobs_total) = effects(&mut snapshot, &selection).await?;
        drop(snapshot);
        self.mark_requested(project, &mut jobs.iter_mut().collect::<Vec<_>>()).await?;
        Ok(PageReport { row, earlier, trend, jobs, jobs_total })
    }

    /// Sets `requested` on each effect with missing days that were already requested.
    async fn mark_requested(
        &self,
        project: &ProjectId,
        effects: &mut [&mut JobEffect],
    ) -> Result<(), AppError> {
        if effects.iter().all(|effect| effect.missing == 0) {
            return Ok(());
        }
        let requested = self.store.requested_days(project).await?;
        for effect in effects.iter_mut().filter(|effect| effect.missing > 0) {
            let weeks = effect.weeks();
            effect.requested = requested.iter().any(|day| weeks.contains(*day));
        }
        Ok(())
    }
}

impl Analytics {
    /// The views around a completed job with changes, for the first pages of the job. Empty for any other job.
    pub async fn job_effects(&self, project: &ProjectId, job: &JobId) -> Result<JobEffects, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let Some(finished) = snapshot.job_with_changes(job).await? else { return Ok(JobEffects::default()) };
        let Some(range) = effect::days_around(std::slice::from_ref(&finished)) else {
            return Ok(JobEffects::default());
        };
        let days = snapshot.days(range).await?;
        let mut pages = Vec::new();
        let (paths, pages_total) = snapshot.pages_of(job, effect::PAGES_MAX).await?;
        let known = snapshot.known_pages(&paths).await?;
        for path in paths {
            let page = known.page(&path).unwrap_or(&path);
            let effects = Effects::among(&days, snapshot.page_by_day(range, page).await?);
            pages.push(PageEffect { path, effect: effects.of(finished.clone()) });
        }
        drop(snapshot);
        self.mark_requested(project, &mut pages.iter_mut().map(|page| &mut page.effect).collect::<Vec<_>>())
            .await?;
        Ok(JobEffects { pages, pages_total })
    }
}

/// The data of the analytics page for one range.
pub struct Report {
    pub pages: PagesReport,
    pub trend: Trend,
}

/// The rows that match the query, with the totals and the comparison of the range.
async fn pages_report(known: Arc<KnownFigures>, query: &TableQuery) -> PagesReport {
    let (pages, query) = (known.paths.len(), query.clone());
    blocking::run(pages, move || matching_rows(&known, &query)).await
}

fn matching_rows(known: &KnownFigures, query: &TableQuery) -> PagesReport {
    let KnownFigures { period, comparable, earlier, paths, figures, .. } = known;
    let mut table = Table::of(paths, figures, query);
    table.sort(query);
    let offset = usize::try_from(query.paging.offset).unwrap_or(usize::MAX);
    let is_narrowed = !query.is_about_everything();
    PagesReport {
        totals: period.totals(),
        matching: table.matching(),
        matching_comparison: is_narrowed.then(|| figures.comparison(paths, query)).flatten(),
        rows: table.rows(offset).take(query.paging.limit.get() as usize).collect(),
        rows_total: table.len() as u64,
        comparison: comparable.clone().map(Comparison::from),
        earlier: earlier.as_ref().map(|(all, sums)| match is_narrowed {
            true => Earlier { counts: table::matching(sums, paths, query), ..all.clone() },
            false => all.clone(),
        }),
        fetched_at: updated_at(period.days()),
        oldest_fetched_at: oldest_fetched_at(period.days()),
        marked: period.marked(),
        unfinished: period.is_unfinished(),
        provisional_days: DayRange::of_days(provisional(period.days())),
    }
}

fn matching_pages(known: &KnownFigures, query: &TableQuery) -> MatchingPages {
    let mut table = Table::of(&known.paths, &known.figures, query);
    table.sort(query);
    let first = table.pages().take(query.paging.limit.get() as usize);
    MatchingPages { paths: first.map(str::to_owned).collect(), total: table.pages().count() as u64 }
}

/// For each path, whether it matches the query.
async fn matching_paths(paths: &Arc<Paths>, query: &TableQuery) -> Arc<[bool]> {
    let (all, query) = (paths.clone(), query.clone());
    blocking::run(paths.len(), move || all.names().iter().map(|path| query.contains(path)).collect()).await
}

/// The views of every page in the range and in the compared period.
async fn figures(
    snapshot: &mut Snapshot,
    period: &Period,
    comparable: Option<&Comparable>,
    paths: &Arc<Paths>,
) -> Result<Figures, AppError> {
    let counts = snapshot.sums(period.range(), &[], paths).await?;
    let Some(comparable) = comparable else { return Ok(Figures { counts, previous: None, compared: None }) };
    let (left_out, partners) = comparable.left_out();
    let previous = Some(snapshot.sums(comparable.previous, &partners, paths).await?);
    let compared = match comparable.is_whole() {
        true => None,
        false => Some(snapshot.sums(comparable.current, &left_out, paths).await?),
    };
    Ok(Figures { counts, previous, compared })
}

/// The views of the selected page or folder on each stored day of the range.
async fn by_day(
    snapshot: &mut Snapshot,
    range: DayRange,
    selection: &Selection,
) -> Result<Vec<(Day, ViewCounts)>, AppError> {
    match selection {
        Selection::Page(path) => Ok(snapshot.page_by_day(range, path).await?),
        _ => {
            let paths = snapshot.paths(range.from()).await?;
            let (all, selection) = (paths.clone(), selection.clone());
            let wanted = move || all.names().iter().map(|path| selection.contains(path)).collect();
            let wanted: Arc<[bool]> = blocking::run(paths.len(), wanted).await;
            Ok(snapshot.sums_by_day(range, &paths, &wanted).await?)
        }
    }
}

/// The whole days before a range without a complete one, with the views of the selected page or folder.
async fn earlier_of(
    snapshot: &mut Snapshot,
    period: &Period,
    compare: Compare,
    selection: &Selection,
) -> Result<Option<Earlier>, AppError> {
    let Some(earlier) = period.earlier_in(snapshot, compare).await? else { return Ok(None) };
    let days = by_day(snapshot, earlier.days, selection).await?;
    Ok(Some(Earlier { counts: days.into_iter().map(|(_, counts)| counts).sum(), ..earlier }))
}

async fn trend_of(
    snapshot: &mut Snapshot,
    period: &Period,
    comparable: Option<&Comparable>,
    selection: &Selection,
    days: &[(Day, ViewCounts)],
) -> Result<Trend, AppError> {
    let finished = snapshot.finished_jobs_within(period.range(), selection, trend::MARKERS_MAX).await?;
    let annotations = snapshot.annotations(period.range()).await?;
    Ok(trend::trend(trend::points(period, comparable, days), finished, annotations))
}

fn row(
    path: &str,
    days: &[(Day, ViewCounts)],
    previous: Option<&[(Day, ViewCounts)]>,
    comparable: Option<&Comparable>,
) -> PageRow {
    let sum = |days: &[(Day, ViewCounts)], is_in: &dyn Fn(Day) -> bool| {
        days.iter().filter(|(day, _)| is_in(*day)).map(|(_, counts)| *counts).sum()
    };
    let part = comparable.filter(|comparable| !comparable.is_whole());
    let previous = comparable.zip(previous);
    PageRow {
        path: path.to_owned(),
        counts: sum(days, &|_| true),
        previous: previous.map(|(compared, before)| sum(before, &|day| compared.contains_before(day))),
        compared: part.map(|part| sum(days, &|day| part.contains(day))),
        pages: None,
    }
}

/// The effects of the newest jobs with changes, and the number of all of them.
async fn effects(snapshot: &mut Snapshot, selection: &Selection) -> Result<(Vec<JobEffect>, u64), AppError> {
    let FinishedJobs { jobs, total } = snapshot.jobs_with_changes(selection, effect::JOBS_MAX).await?;
    let Some(range) = effect::days_around(&jobs) else { return Ok((Vec::new(), total)) };
    let days = snapshot.days(range).await?;
    let effects = Effects::among(&days, by_day(snapshot, range, selection).await?);
    Ok((jobs.into_iter().map(|job| effects.of(job)).collect(), total))
}
