//! Measures the response time of the daily history with a million rows: 2,740 pages on 365 days, the same in every run. Each query runs through the
//! code of its endpoint, on SQLite and on PostgreSQL. For comparison it also runs as plain SQL in the `sqlite3` shell, if that is installed. Prints
//! the results beside the targets; never fails, since a busy machine is not a defect.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot be made has no other use")]
#![expect(clippy::print_stdout, reason = "it is what a measurement is for")]

mod beside;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use base::clock::Clock;
use base::work::Docket;
use futures::TryStreamExt;
use model::analytics::choice::{Compare, Order, Readers};
use model::day::{Day, DayRange};
use model::id::ProjectId;
use model::paging::Paging;
use service::analytics::Analytics;
use service::analytics::export::ExportKind;
use service::analytics::table_query::TableQuery;
use service::sheet::Format;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use store::Store;

const PAGES: i64 = 2_740;
const DAYS: i64 = 365;
const LAST: &str = "2026-11-20";
const RUNS: usize = 100;
const WARM_UP: usize = 5;
const SHELL_RUNS: usize = 11;

/// The last 90 days, and the 90 before them.
const NOW: &str = "v.day BETWEEN '2026-08-23' AND '2026-11-20'";
const BEFORE: &str = "v.day BETWEEN '2026-05-25' AND '2026-08-22'";

fn main() {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(measure());
}

async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.db");
    let store = Store::open(&format!("sqlite://{}", file.display())).await.unwrap();
    let started = Instant::now();
    fill(&store, &file).await;
    let bytes = std::fs::metadata(&file).unwrap().len() as f64 / 1e6;
    println!("{} rows in {bytes:.0} MB, written in {:.1} s", PAGES * DAYS, started.elapsed().as_secs_f64());
    let (on_postgres, _database) = beside::on_postgres(&store).await;
    println!("{:44} {:>37}   {:>24}", "", "SQLite", "PostgreSQL");
    println!(
        "{:44} {:>8} {:>8} {:>6} {:>12} {:>6}   {:>8} {:>8} {:>6}",
        "ms", "p50", "p95", "aim", "sqlite3 p50", "ratio", "p50", "p95", "ratio"
    );
    let both = Both { databases: [store, on_postgres].map(Database::new), file: &file };
    let (project, range) = (project(), range(90));

    let plain = format!(
        "SELECT p.path, SUM(v.human), SUM(v.ai), SUM(v.total) FROM page_views v JOIN page_paths p ON p.id = v.path_id
         WHERE v.project = 'docs' AND {NOW} GROUP BY v.path_id
         ORDER BY CAST(SUM(v.ai) AS REAL) / SUM(v.total) DESC, p.path LIMIT 50;"
    );
    let query = table_query("share");
    both.time("90 days of the table by AI share, compared", 50, &plain, async |it| {
        drop(it.analytics.pages(&query).await.unwrap());
    })
    .await;

    let plain = format!(
        "SELECT v.day, SUM(v.human), SUM(v.ai), SUM(v.total) FROM page_views v
         WHERE v.project = 'docs' AND {NOW} GROUP BY v.day;"
    );
    both.time("its trend", 20, &plain, async |it| {
        drop(it.analytics.trend(&project, range, Compare::None, None).await.unwrap());
    })
    .await;

    let plain = format!(
        "SELECT v.path_id, SUM(v.human), SUM(v.ai), SUM(v.total) FROM page_views v
         WHERE v.project = 'docs' AND {BEFORE} GROUP BY v.path_id;"
    );
    both.time("its comparison, of every page", 20, &plain, async |it| compare(&it.store, &project).await)
        .await;

    let plain = format!(
        "SELECT v.day, SUM(v.human), SUM(v.ai), SUM(v.total) FROM page_views v JOIN page_paths p ON p.id = v.path_id
         WHERE v.project = 'docs' AND {NOW} AND p.path LIKE '/guides/%' GROUP BY v.day;"
    );
    both.time("trend of a folder", 20, &plain, async |it| {
        drop(it.analytics.trend(&project, range, Compare::None, Some("/guides/*")).await.unwrap());
    })
    .await;

    both.time("report of a page", 20, "", async |it| {
        drop(it.analytics.page(&project, range, Compare::None, "/guides/section-17/page-17").await.unwrap());
    })
    .await;
    both.time("falling pages", 50, "", async |it| {
        drop(it.analytics.falling_pages(&project, range, Readers::People).await.unwrap());
    })
    .await;

    let year = self::range(DAYS);
    let query = TableQuery { range: year, ..query };
    both.time("365 days of the table by AI share", 100, "", async |it| {
        drop(it.analytics.pages(&query).await.unwrap());
    })
    .await;
    export(&both.databases[0].analytics, query).await;
}

/// A measured database.
struct Database {
    store: Store,
    analytics: Analytics,
}

impl Database {
    fn new(store: Store) -> Self {
        Self { analytics: Analytics::new(store.clone()), store }
    }
}

/// The history in a file and on PostgreSQL.
struct Both<'a> {
    databases: [Database; 2],
    file: &'a Path,
}

impl Both<'_> {
    /// Measures both databases alternately, and the shell. `aim` is SQLite's target in ms; PostgreSQL may take twice as long.
    async fn time(&self, name: &str, aim: u32, plain: &str, run: impl AsyncFn(&Database)) {
        let mut times = [const { Vec::new() }; 2];
        for n in 0..RUNS + WARM_UP {
            for (database, times) in self.databases.iter().zip(&mut times) {
                let started = Instant::now();
                run(database).await;
                if n >= WARM_UP {
                    times.push(milliseconds(started.elapsed()));
                }
            }
        }
        let [(p50, p95), (p50_there, p95_there)] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times[times.len() / 2], times[times.len() * 95 / 100])
        });
        let shell = (!plain.is_empty()).then(|| shell(self.file, plain)).flatten();
        let (shell, ratio) = match shell {
            Some(shell) => (format!("{shell:.1}"), format!("{:.2}", p50 / shell)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        println!(
            "{name:44} {p50:8.1} {p95:8.1} {aim:>6} {shell:>12} {ratio:>6}   {p50_there:8.1} {p95_there:8.1} {:6.2}",
            p50_there / p50
        );
    }
}

fn project() -> ProjectId {
    "docs".parse().unwrap()
}

fn range(days: i64) -> DayRange {
    DayRange::ending(LAST.parse().unwrap(), days)
}

fn table_query(sort: &str) -> TableQuery {
    let order = Order::parse(Some(sort)).unwrap();
    TableQuery::new(project(), range(90), Paging::default()).sorted(order)
}

/// The views of each page in the previous 90 days.
async fn compare(store: &Store, project: &ProjectId) {
    let before = DayRange::ending(range(90).from().plus_days(-1), 90);
    let mut snapshot = store.snapshot(project).await.unwrap();
    assert_eq!(snapshot.days(before).await.unwrap().len(), 90);
    let paths = snapshot.paths(before.from()).await.unwrap();
    assert_eq!(snapshot.sums(before, &[], &paths).await.unwrap().len(), PAGES as usize);
}

/// Writes every day with SQL inside the database where possible, which is faster than row by row.
async fn fill(store: &Store, file: &Path) {
    let mut database =
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(file)).await.unwrap();
    let mut tx = database.begin().await.unwrap();
    let paths = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PAGES})
         INSERT INTO page_paths (id, project, path)
         SELECT i, 'docs', CASE i % 3 WHEN 0 THEN '/api-reference' ELSE '/guides' END || '/section-' || (i % 40) || '/page-' || i FROM n"
    );
    sqlx::query(AssertSqlSafe(paths)).execute(&mut *tx).await.unwrap();
    let days: Vec<Day> = (0..DAYS).map(|n| range(DAYS).from().plus_days(n)).collect();
    for (n, day) in days.iter().enumerate() {
        // A few popular pages, many with few views.
        let rows = format!(
            "INSERT INTO page_views (project, day, path_id, human, ai, total)
             SELECT 'docs', '{day}', id, human, ai, human + ai FROM (
                 SELECT id, 3000 / id + (id * 7919 + {n} * 104729) % 23 AS human, 900 / id + (id * 31 + {n} * 17) % 13 AS ai FROM page_paths)"
        );
        sqlx::query(AssertSqlSafe(rows)).execute(&mut *tx).await.unwrap();
        let totals = format!(
            "INSERT INTO history_days (project, day, human, ai, total, pages, digest, fetched_at, equal_fetches)
             SELECT 'docs', '{day}', SUM(human), SUM(ai), SUM(total), COUNT(*), 'bench', 1900000000000, 2
             FROM page_views WHERE project = 'docs' AND day = '{day}'"
        );
        sqlx::query(AssertSqlSafe(totals)).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    let work = Docket::take().unwrap().task("benchmark", Clock::system());
    for day in days {
        store.refresh_rollup(&work, &project(), day).await.unwrap();
    }
    // Moves everything into the file, so that the shell starts from the same state.
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut database).await.unwrap();
}

/// The median time of a statement in the shell, by its own timer; `None` without a shell.
fn shell(file: &Path, plain: &str) -> Option<f64> {
    let mut script = ".timer on\n.output /dev/null\n".to_owned();
    (0..SHELL_RUNS).for_each(|_| script.extend([&plain.replace('\n', " "), "\n"]));
    let script_file = file.with_extension("sql");
    std::fs::write(&script_file, script).unwrap();
    let input = std::fs::File::open(&script_file).unwrap();
    let output = Command::new("sqlite3").arg(file).stdin(input).stderr(Stdio::null()).output().ok()?;
    let output = String::from_utf8(output.stdout).ok()?;
    let seconds = |line: &str| line.strip_prefix("Run Time: real ")?.split(' ').next()?.parse::<f64>().ok();
    let mut times: Vec<f64> = output.lines().filter_map(seconds).map(|seconds| seconds * 1e3).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

async fn export(analytics: &Analytics, query: TableQuery) {
    let before = memory();
    let started = Instant::now();
    let mut body = analytics.export(query, ExportKind::Daily, Format::Csv).await.unwrap().body;
    let (mut first, mut bytes, mut rows) = (None, 0, 0);
    while let Some(piece) = body.try_next().await.unwrap() {
        first.get_or_insert_with(|| started.elapsed());
        bytes += piece.len();
        rows += piece.iter().filter(|byte| **byte == b'\n').count() - usize::from(bytes == piece.len());
    }
    println!(
        "export of {rows} daily rows: first byte after {:.1} ms (aim 200 ms), {:.0} MB in {:.2} s, {:.1} MB of memory more",
        milliseconds(first.unwrap()),
        bytes as f64 / 1e6,
        started.elapsed().as_secs_f64(),
        memory() - before,
    );
}

/// The peak memory of this process, in MB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default() / 1e3
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
