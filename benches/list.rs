//! Measures a page of the list with 100,000 jobs (`JOBS=` for another number): the 50th and 95th percentile for each filter, with its counts. SQLite
//! is compared with the minimum statements, and PostgreSQL with SQLite. Never fails: a busy machine is not a defect.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails has nothing to say")]

mod beside;

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use base::clock::Clock;
use base::prompt::Prompt;
use base::query_permits::QueryPermits;
use base::work::{Docket, Work};
use model::id::{JobId, ProjectId};
use model::job::JobState;
use model::time::Timestamp;
use model::user::Role;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use store::Store;
use store::jobs::intents::{NewIntent, Scheduling};
use store::jobs::list::{JobFilter, PageStart, Sort};

const RUNS: usize = 30;
/// How many follow-ups one job gets.
const FOLLOW_UPS: usize = 500;
/// On SQLite.
const AIM: Duration = Duration::from_millis(50);
/// On PostgreSQL, which may also take at most twice the median of SQLite.
const AIM_ON_POSTGRES: Duration = Duration::from_millis(100);

/// Half of the jobs are completed with a pull request; one in fifty is in Japanese; one in twenty has the tag `sdk`.
const FILL: &str = "
    INSERT INTO jobs (id, project, state, created_at, changed_at, remote_id, remote_status, pr_link, git_ref)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $JOBS)
    SELECT printf('01930000-0000-7000-8000-%012d', i), 'docs',
        CASE WHEN i % 100 < 80 THEN 'completed' WHEN i % 100 < 90 THEN 'failed' WHEN i % 100 < 98 THEN 'archived' ELSE 'active' END,
        i, i + i * 7919 % 5000, 'r' || i, 'x', CASE WHEN i % 2 = 0 THEN 'https://git.example/' || i END, 'docket/agent-' || i FROM n;
    INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
    SELECT 'm' || id, id, 0, (SELECT id FROM users WHERE name = CASE WHEN jobs.created_at % 10 = 0 THEN 'ada' ELSE 'ben' END), id,
        'Check the page ' || CASE WHEN created_at % 2 = 0 THEN 'guide ' ELSE 'manual ' END || created_at
        || ' against the current SDK and fix every step that no longer works: word' || (created_at * 7919 % 20000)
        || ', term' || (created_at * 104729 % 3000) || '. Then update the links, examples and the glossary of part '
        || (created_at % 97) || CASE WHEN created_at % 50 = 0 THEN ' 概要ページを更新してください' ELSE '' END,
        'accepted', created_at, 0 FROM jobs;
    INSERT INTO job_paths SELECT id, '/guides/page-' || (created_at % 20) FROM jobs;
    INSERT INTO job_tags SELECT id, 'sdk', 'SDK' FROM jobs WHERE created_at % 20 = 3;
    UPDATE jobs SET archived_here_at = 1 WHERE created_at % 10 = 7;
    UPDATE listed_jobs SET attention = 1 WHERE archived = 0 AND (state = 'failed' OR (state = 'completed' AND has_pr = 0));";

/// A case: its name, its filter, and the minimum query for its counts, as a condition on `listed_jobs l`.
type Case = (&'static str, JobFilter, &'static str);

fn cases(jobs: u64) -> Vec<Case> {
    let text = |text: &str| JobFilter { text: Some(text.to_owned()), ..JobFilter::default() };
    let label = |label: &str| JobFilter { label: Some(label.to_owned()), ..JobFilter::default() };
    vec![
        ("everything", JobFilter::default(), "1 = 1"),
        ("oldest first", JobFilter { sort: Sort::Oldest, ..JobFilter::default() }, "1 = 1"),
        ("last changed first", JobFilter { sort: Sort::Changed, ..JobFilter::default() }, "1 = 1"),
        (
            "the last page but one",
            JobFilter { page_start: PageStart::Start(jobs * 9 / 10 - 100), ..JobFilter::default() },
            "1 = 1",
        ),
        ("completed", JobFilter { state: Some(JobState::Completed), ..JobFilter::default() }, "1 = 1"),
        ("active", JobFilter { state: Some(JobState::Active), ..JobFilter::default() }, "1 = 1"),
        (
            "of an author",
            JobFilter { author: Some("ben".to_owned()), ..JobFilter::default() },
            "l.author_id = (SELECT id FROM users WHERE name = 'ben')",
        ),
        (
            "with a pull request",
            JobFilter { has_pull_request: Some(true), ..JobFilter::default() },
            "l.has_pr = 1",
        ),
        ("needing attention", JobFilter { needs_attention: true, ..JobFilter::default() }, "l.attention = 1"),
        ("archived here", JobFilter { archived: Some(true), ..JobFilter::default() }, "1 = 1"),
        (
            "about a page",
            label("/guides/page-3"),
            "EXISTS (SELECT 1 FROM listed_labels p WHERE p.project = 'docs' AND p.label = '/guides/page-3' AND p.number = l.number)",
        ),
        (
            "tagged",
            label("sdk"),
            "EXISTS (SELECT 1 FROM listed_labels p WHERE p.project = 'docs' AND p.label = 'sdk' AND p.number = l.number)",
        ),
        (
            "a word of every job",
            text("current"),
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'current')",
        ),
        (
            "a word of every second job",
            text("guide"),
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'guide')",
        ),
        (
            "two common words",
            text("current glossary"),
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'current glossary')",
        ),
        (
            "a rare word",
            text("word123"),
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'word123')",
        ),
        (
            "no such word",
            text("nowhere"),
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'nowhere')",
        ),
        (
            "the number of a pull request",
            text("#4256"),
            "l.job_id IN (SELECT id FROM jobs WHERE pr_link = 'https://git.example/4256')",
        ),
        (
            "a branch",
            text("docket/agent-4257"),
            "l.job_id IN (SELECT id FROM jobs WHERE git_ref = 'docket/agent-4257')",
        ),
        ("the beginning of all branches", text("docket/agent-"), "1 = 1"),
        ("the name of an author", text("ada"), "l.author_id = (SELECT id FROM users WHERE name = 'ada')"),
        (
            "completed without changes",
            JobFilter { state: Some(JobState::Completed), no_changes: true, ..JobFilter::default() },
            "l.state = 'completed' AND l.has_pr = 0",
        ),
        ("one letter", text("c"), "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'c*')"),
        (
            "four characters of Japanese",
            text("要ページ"),
            "l.number IN (SELECT rowid FROM job_characters WHERE job_characters MATCH '要ページ')",
        ),
        ("two characters of Japanese", text("概要"), "l.unspaced = 1"),
        (
            "a word of every job, active",
            JobFilter { state: Some(JobState::Active), ..text("current") },
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'current')",
        ),
        (
            "a word of every job, last changed first",
            JobFilter { sort: Sort::Changed, ..text("current") },
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'current')",
        ),
        (
            "a common word, active, about a page",
            JobFilter {
                state: Some(JobState::Active),
                label: Some("/guides/page-3".to_owned()),
                ..text("guide")
            },
            "l.number IN (SELECT rowid FROM job_words WHERE job_words MATCH 'guide')",
        ),
    ]
}

#[tokio::main]
async fn main() {
    let jobs: u64 = std::env::var("JOBS").ok().map_or(100_000, |jobs| jobs.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.db");
    let started = Instant::now();
    fill(&file, jobs).await;
    // Opened again, as at the start of a server: the process that wrote the data has a warm cache.
    let store = open(&file).await;
    let mut bare = connect(&file).await;
    println!(
        "{jobs} jobs written and indexed in {:.1} s, {} MB",
        started.elapsed().as_secs_f64(),
        megabytes(&file)
    );
    let started = Instant::now();
    let (postgres, _database) = beside::on_postgres(&store).await;
    println!("copied to PostgreSQL in {:.1} s", started.elapsed().as_secs_f64());
    println!("{:40} {:>33}   {:>24}", "a page with its counts", "SQLite", "PostgreSQL");
    println!(
        "{:40} {:>8} {:>8} {:>8} {:>6}   {:>8} {:>8} {:>6}",
        "ms", "p50", "p95", "bare", "ratio", "p50", "p95", "ratio"
    );

    let project: ProjectId = "docs".parse().unwrap();
    let permit = QueryPermits::default().acquire("").await.unwrap();
    for (name, filter, condition) in cases(jobs) {
        let filter = JobFilter { archived: filter.archived.or(Some(false)), ..filter };
        let (mut in_file, mut on_postgres, mut least) = (Vec::new(), Vec::new(), Vec::new());
        let archived = i32::from(filter.archived == Some(true));
        let sql = format!(
            "SELECT l.state, COUNT(*) FROM listed_jobs l WHERE l.project = 'docs' AND l.archived = {archived} AND {condition} GROUP BY l.state"
        );
        for _ in 0..RUNS {
            for (store, times) in [(&store, &mut in_file), (&postgres, &mut on_postgres)] {
                times.push(took(store.jobs(&permit, &project, &filter)).await);
            }
            least.push(took(sqlx::query(AssertSqlSafe(sql.clone())).fetch_all(&mut bare)).await);
        }
        let [(half, most), (half_there, most_there), (bare, _)] = [in_file, on_postgres, least]
            .map(|mut times| (quantile(&mut times, 50), quantile(&mut times, 95)));
        let times = [half_there, half].map(|half| half.as_secs_f64().max(1e-6));
        let is_over = most > AIM || most_there > AIM_ON_POSTGRES || times[0] > 2.0 * times[1];
        println!(
            "{name:40} {:8.1} {:8.1} {:8.1} {:6.1}   {:8.1} {:8.1} {:6.1}{}",
            millis(half),
            millis(most),
            millis(bare),
            millis(half) / millis(bare).max(0.001),
            millis(half_there),
            millis(most_there),
            times[0] / times[1],
            if is_over { "  over an aim" } else { "" }
        );
    }
    println!("{:40} {:>8} {:>8} {:>8}", "a follow-up of 32 KiB, p50 in ms", "1-10", "63-72", "491-500");
    for (name, store) in [("SQLite", &store), ("PostgreSQL", &postgres)] {
        let [first, middle, last] = follow_ups(store, &project).await.map(millis);
        println!("{name:40} {first:8.1} {middle:8.1} {last:8.1}");
    }
}

/// How long committing a follow-up of 32 KiB takes, for the first and for the last of many to one job.
async fn follow_ups(store: &Store, project: &ProjectId) -> [Duration; 3] {
    let author = store.user_by_name("ada").await.unwrap().unwrap().actor("192.0.2.7");
    let commit = async |job: Option<&JobId>, n: usize, prompt: &str| {
        let (intent, prompt) =
            (format!("bench-{n}").parse().unwrap(), Prompt::parse(prompt, u32::MAX).unwrap());
        let new = match job {
            Some(job) => NewIntent::follow_up(project.clone(), job.clone(), intent, prompt),
            None => NewIntent::new_job(project.clone(), intent, prompt),
        };
        let work = work_at(Timestamp::from_millis(n as i64));
        store.insert_intent((&work).into(), &author, &new, Scheduling::Immediate, u32::MAX).await.unwrap();
        store.find_intent(&author.id, &new.intent).await.unwrap().unwrap().job
    };
    let job = commit(None, 0, "A long conversation").await;
    let mut times = Vec::new();
    for n in 1..=FOLLOW_UPS {
        let words = (0..).map(|at: usize| format!("word{} ", (at * 7_919 + n * 104_729) % 20_000));
        let text: String = words.take(3_600).collect();
        let text = &text[..32_000];
        let began = Instant::now();
        commit(Some(&job), n, text).await;
        times.push(began.elapsed());
    }
    let middle = FOLLOW_UPS / 8;
    [0, middle, FOLLOW_UPS - 10].map(|at| quantile(&mut times[at..at + 10].to_vec(), 50))
}

/// How long a query took.
async fn took<T, E: std::fmt::Debug>(query: impl Future<Output = Result<T, E>>) -> Duration {
    let began = Instant::now();
    query.await.unwrap();
    began.elapsed()
}

/// The right of this process to write.
fn work_at(time: Timestamp) -> Work {
    static DOCKET: LazyLock<Docket> = LazyLock::new(|| Docket::take().unwrap());
    DOCKET.task("benchmark", Clock::frozen(time))
}

async fn fill(file: &Path, jobs: u64) {
    let store = open(file).await;
    for name in ["ada", "ben"] {
        store
            .add_user((&work_at(Timestamp::from_millis(0))).into(), name, Role::Operator, "hash")
            .await
            .unwrap();
    }
    store.close().await;
    let mut bare = connect(file).await;
    let fill = format!("BEGIN; {} COMMIT;", FILL.replace("$JOBS", &jobs.to_string()));
    sqlx::raw_sql(AssertSqlSafe(fill)).execute(&mut bare).await.unwrap();
    bare.close().await.unwrap();
}

async fn open(file: &Path) -> Store {
    Store::open(&format!("sqlite://{}", file.display())).await.unwrap()
}

async fn connect(file: &Path) -> SqliteConnection {
    SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(file)).await.unwrap()
}

fn quantile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn megabytes(file: &Path) -> u64 {
    std::fs::metadata(file).unwrap().len() / 1_000_000
}
