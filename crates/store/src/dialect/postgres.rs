//! PostgreSQL: a server, which may be down, too old or without required features.

use std::io::ErrorKind;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::Migrator;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Row, Transaction};

use super::interruption::AT_ONCE;
use super::migrations::{self, OfPostgres, migrator};
use super::pool::{Pool, whole};
use super::route::{self, Route};
use super::{Area, Connections, Dialect, Opened};
use crate::StoreError;
use base::waits::Waits;

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = migrator::<OfPostgres>();
    // `migrate` uses its own lock, for which no statement waits.
    migrations.set_locking(false);
    migrations
});

/// The error code of an interrupted statement.
pub(super) const INTERRUPTED: &str = "57014";

/// The classes of errors about values: data exception, violated constraint, exceeded limit of the program, and what a
/// trigger raises.
const OF_VALUES: [&str; 4] = ["22", "23", "54", "P0"];

/// The oldest supported server, as a `server_version_num`.
const OLDEST: i32 = 140_000;

/// The keys of the advisory locks: `docket` and one more byte.
const LEDGER_LOCK: i64 = 0x64_6f63_6b65_7401;
const HISTORY_LOCK: i64 = 0x64_6f63_6b65_7402;
const MIGRATION_LOCK: i64 = 0x64_6f63_6b65_7403;

/// The maximum number of connections, besides those for long queries.
const CONNECTIONS: u32 = 16;
/// How long a migration by another process may take.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(300);
/// A connection that was idle for this long is tested before use.
const TESTED_AFTER: Duration = Duration::from_secs(5);
/// How long the test may take: the network may have stalled for good.
const TESTED_WITHIN: Duration = Duration::from_secs(5);
/// The pause between two attempts to connect or to migrate.
const PAUSE: Duration = Duration::from_millis(200);

/// The settings of each connection. A single statement sees what was committed before it. A statement waits for a lock as long as it does in SQLite, and the transactions of a killed process end soon.
const SETTINGS: &[(&str, &str)] = &[
    ("default_transaction_isolation", "read committed"),
    ("client_min_messages", "warning"),
    ("jit", "off"),
    ("idle_in_transaction_session_timeout", "120s"),
    ("client_connection_check_interval", "1s"),
];

const READ_ONLY_SETTING: (&str, &str) = ("default_transaction_read_only", "on");

/// Tables with each column, its type, and its position in the primary key.
pub(super) const COLUMNS: &str =
    "SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), format_type(a.atttypid, NULL),
        CAST(array_position(CAST(i.indkey AS SMALLINT[]), a.attnum) AS BIGINT)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')";

/// Tables with the tables they reference.
pub(super) const REFERENCES: &str = "SELECT DISTINCT CAST(c.relname AS TEXT), CAST(r.relname AS TEXT)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype = 'f' AND n.nspname = current_schema()";

/// Columns with numbers that the database generates.
pub(super) const NUMBERED: &str = "SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity <> ''
    WHERE n.nspname = current_schema() AND c.relkind = 'r'";

/// What the connections of a pool are for. After a failover, a name leads to another server, while the connections to the former one may stay open.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// Writing, and reading what was written.
    Write,
    /// Reading what was written.
    Query,
    /// Reading from any server, such as a standby.
    Read,
}

impl Purpose {
    /// A statement whose result is whether the server does not fit. A standby is in recovery.
    const fn misfit(self) -> Option<&'static str> {
        match self {
            Self::Write => {
                Some("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'")
            }
            Self::Query => Some("SELECT pg_is_in_recovery()"),
            Self::Read => None,
        }
    }

    /// Whether the server fits, if it responds.
    async fn fits(self, connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
        match self.misfit() {
            Some(misfit) => {
                // In one step, as a connection pooler needs it.
                let row = sqlx::raw_sql(misfit).fetch_one(connection).await?;
                row.try_get(0).map(|is_misfit: bool| !is_misfit)
            }
            None => connection.ping().await.map(|()| true),
        }
    }
}

/// How a pool connects.
#[derive(Clone)]
pub(super) struct Options {
    pub(super) route: Route,
    pub(super) url: AnyConnectOptions,
}

/// Why a server is not used.
const READ_ONLY: &str = "it is a standby, or read-only";

/// Opens the database and migrates it. Waits for a server that does not answer, or is read-only.
pub(super) async fn open(url: &str, patience: Duration, waits: Waits) -> Result<Opened, StoreError> {
    let (mut first, route) = connect(url, patience, Purpose::Write).await?;
    check(&mut first, url).await?;
    first.close().await?;
    let options = Options { route, url: route.url(url)? };
    let pool = lazy(options.clone(), CONNECTIONS, Purpose::Write, &[], waits);
    // The log would have the whole text of each step that takes long.
    let quiet = Options { url: options.url.clone().disable_statement_logging(), ..options.clone() };
    let migrating = lazy(quiet, 1, Purpose::Write, &[], waits);
    migrate(&migrating, url).await?;
    migrating.close().await;
    let counts = lazy(options.clone(), 1, Purpose::Write, &[("synchronous_commit", "off")], waits);
    let queries = query_connections(options, waits, Purpose::Query);
    Ok(opened(pool, counts, queries))
}

pub(super) async fn open_to_read(url: &str, waits: Waits) -> Result<Opened, StoreError> {
    let (first, route) = connect(url, Duration::ZERO, Purpose::Read).await?;
    first.close().await?;
    let options = Options { route, url: route.url(url)? };
    let pool = lazy(options.clone(), 2, Purpose::Read, &[READ_ONLY_SETTING], waits);
    let queries = query_connections(options, waits, Purpose::Read);
    Ok(opened(pool.clone(), pool, queries))
}

fn opened(pool: Pool, counts: Pool, queries: Pool) -> Opened {
    let queries = Connections::Postgres(queries);
    Opened { dialect: Dialect::Postgres, pool, counts, queries, file: None }
}

/// Settings for long queries: memory for the list of 100,000 jobs; no parallel workers, which take longer to start than most of these statements run;
/// a custom plan, since a rare word and a common one need different plans; random reads as cheap as on an SSD; and no hash joins, since joined rows
/// come in the order of the jobs' numbers (half the time for a word of all jobs).
const QUERY_SETTINGS: &[(&str, &str)] = &[
    READ_ONLY_SETTING,
    ("client_connection_check_interval", "100"),
    ("work_mem", "32MB"),
    ("max_parallel_workers_per_gather", "0"),
    ("plan_cache_mode", "force_custom_plan"),
    ("random_page_cost", "1.1"),
    ("enable_hashjoin", "off"),
];

/// Connections for statements that the server stops after `waits.query`, or when their connection is closed.
fn query_connections(options: Options, waits: Waits, purpose: Purpose) -> Pool {
    let longest = waits.query.as_millis().to_string();
    let settings = [QUERY_SETTINGS, &[("statement_timeout", longest.as_str())]].concat();
    lazy(options, AT_ONCE, purpose, &settings, waits)
}

/// As [`open`] does.
#[cfg(test)]
pub(super) fn query_connections_of_test(pool: &Pool, longest: Duration) -> Pool {
    let options = Options { route: Route::Direct, url: (*pool.connections().connect_options()).clone() };
    query_connections(options, Waits { query: longest, ..Waits::default() }, Purpose::Query)
}

/// A transaction that waited for the lock of its area reads what was committed meanwhile, whatever default an administrator set for the role.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Takes the lock of the area first, so that the transaction reads everything that was committed before.
pub(super) async fn begin(pool: &Pool, area: Area) -> Result<Transaction<'static, Any>, sqlx::Error> {
    let pool = pool.clone();
    whole(async move {
        let mut tx = pool.begin_with(BEGIN).await?;
        lock_area(&mut tx, area).await?;
        Ok(tx)
    })
    .await
}

/// Waits for the write lock of the area, unless its rows are written apart. The lock ends with the transaction.
pub(super) async fn lock_area(connection: &mut AnyConnection, area: Area) -> Result<(), sqlx::Error> {
    let lock = match area {
        Area::Ledger => LEDGER_LOCK,
        Area::History => HISTORY_LOCK,
        Area::Apart => return Ok(()),
    };
    sqlx::query("SELECT 1 FROM pg_advisory_xact_lock($1)").bind(lock).execute(connection).await.map(drop)
}

/// The server's time, in milliseconds.
pub(super) async fn time(pool: &Pool) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)")
        .fetch_one(pool)
        .await
}

pub(super) async fn snapshot(pool: &Pool) -> Result<Transaction<'static, Any>, sqlx::Error> {
    let pool = pool.clone();
    whole(async move { pool.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await }).await
}

pub(super) fn migrations() -> &'static Migrator {
    &MIGRATIONS
}

/// Whether both URLs name one database of one server. Different names of one server count as different.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let [Ok(one), Ok(other)] = [one, other].map(PgConnectOptions::from_str) else { return false };
    (one.get_socket(), one.get_database()) == (other.get_socket(), other.get_database())
        && (one.get_host(), one.get_port()) == (other.get_host(), other.get_port())
}

/// A connection to a server that does not fit is refused. An open one is closed after the statement that found the server unfit, at the latest.
fn lazy(
    Options { route, url }: Options,
    connections: u32,
    purpose: Purpose,
    settings: &[(&str, &str)],
    waits: Waits,
) -> Pool {
    let longest = waits.lock.as_millis().to_string();
    let settings = route.statements(&[SETTINGS, &[("lock_timeout", longest.as_str())], settings].concat());
    match route {
        Route::Direct => Pool::direct(pool(url, connections, purpose, Some(settings), waits)),
        Route::Pooled => Pool::pooled(pool(url, connections, purpose, None, waits), &settings),
    }
}

fn pool(
    options: AnyConnectOptions,
    connections: u32,
    purpose: Purpose,
    settings: Option<String>,
    waits: Waits,
) -> AnyPool {
    let notice = Arc::new(Notice::default());
    AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(waits.connection)
        .test_before_acquire(false)
        .before_acquire(move |connection, meta| {
            Box::pin(async move {
                if meta.idle_for >= TESTED_AFTER && !purpose.fits(connection).await? {
                    return Ok(false);
                }
                Ok(!connection.is_in_transaction())
            })
        })
        .after_release(move |connection, _| {
            Box::pin(async move {
                let tested = tokio::time::timeout(TESTED_WITHIN, purpose.fits(connection)).await;
                tested.unwrap_or(Err(sqlx::Error::PoolTimedOut))
            })
        })
        .after_connect(move |connection, _| {
            let (settings, notice) = (settings.clone(), notice.clone());
            Box::pin(async move { notice.of(prepare(connection, settings, purpose).await) })
        })
        .connect_lazy_with(options)
}

async fn prepare(
    connection: &mut AnyConnection,
    settings: Option<String>,
    purpose: Purpose,
) -> Result<(), sqlx::Error> {
    if let Some(settings) = settings {
        if Route::of(connection).await? != Route::Direct {
            return Err(sqlx::Error::Configuration(route::POOLER_APPEARED.into()));
        }
        sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut *connection).await?;
    }
    match purpose.fits(connection).await? {
        true => Ok(()),
        false => Err(sqlx::Error::Configuration(READ_ONLY.into())),
    }
}

/// Whether the log already has why new connections are refused. The pool tries again and again, and would log each attempt.
#[derive(Default)]
struct Notice(AtomicBool);

impl Notice {
    fn of(&self, prepared: Result<(), sqlx::Error>) -> Result<(), sqlx::Error> {
        let was_refused = self.0.swap(prepared.is_err(), Ordering::Relaxed);
        match &prepared {
            Ok(()) if was_refused => tracing::info!("PostgreSQL can be used again"),
            Err(error) if !was_refused => {
                tracing::error!(error = reason(error), "a connection to PostgreSQL cannot be used");
            }
            _ => {}
        }
        prepared
    }
}

/// Connects, and waits for the server for `patience`.
async fn connect(
    url: &str,
    patience: Duration,
    purpose: Purpose,
) -> Result<(AnyConnection, Route), StoreError> {
    let redacted_url = base::config::redacted_url(url);
    let deadline = Instant::now() + patience;
    let mut has_warned = false;
    loop {
        let attempt = tokio::time::timeout(Duration::from_secs(5), fitting(url, purpose)).await;
        let error = match attempt.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            Ok(Some(connected)) => return Ok(connected),
            Ok(None) => READ_ONLY.to_owned(),
            Err(error) if !is_down(&error) => return Err(refused(&error, &redacted_url)),
            Err(error) => reason(&error),
        };
        if Instant::now() >= deadline {
            return Err(StoreError::Down { url: redacted_url, error, waited: patience.as_secs() });
        }
        if !has_warned {
            tracing::warn!(
                "PostgreSQL at {redacted_url} does not answer ({error}). Waiting for it, at most {} s.",
                patience.as_secs()
            );
            has_warned = true;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A connection; `None` if the server does not fit.
async fn fitting(url: &str, purpose: Purpose) -> Result<Option<(AnyConnection, Route)>, sqlx::Error> {
    let (mut connection, route) = route::connect(url).await?;
    Ok(purpose.fits(&mut connection).await?.then_some((connection, route)))
}

/// Whether the server may accept a connection later: it is down, starting or stopping, or has too many connections.
fn is_down(error: &sqlx::Error) -> bool {
    match error {
        // An invalid certificate stays invalid.
        sqlx::Error::Io(error) => error.kind() != ErrorKind::InvalidData,
        sqlx::Error::PoolTimedOut => true,
        sqlx::Error::Database(error) => {
            match error.code().as_deref() {
                Some("57P01" | "57P02" | "57P03" | "53300") => true,
                // A pooler ends a connection with this code while it has none to its server.
                Some("08P01") => !["startup parameter", "statement pooling"]
                    .iter()
                    .any(|text| error.message().contains(text)),
                _ => false,
            }
        }
        _ => false,
    }
}

fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::PoolTimedOut => "no answer within 5 s".to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Configuration(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// An error of the configuration.
fn refused(error: &sqlx::Error, redacted_url: &str) -> StoreError {
    let code = error.as_database_error().and_then(|error| error.code());
    let advice = match code.as_deref() {
        Some("28P01" | "28000") => {
            "Check the user in its URL, and the password there or in DOCKET_DATABASE_PASSWORD_FILE."
        }
        Some("08P01") if reason(error).contains("startup parameter") => {
            "The connection pooler in front of it must ignore this parameter (PgBouncer: `ignore_startup_parameters = extra_float_digits`)."
        }
        Some("3D000") => "Create it with CREATE DATABASE, or check its URL.",
        _ => "Check its URL.",
    };
    let reason = reason(error);
    let advice = if reason.ends_with('.') { String::new() } else { format!(". {advice}") };
    StoreError::Misconfigured(format!("PostgreSQL at {redacted_url} cannot be used: {reason}{advice}"))
}

/// Checks what the server must have, before anything is changed.
async fn check(connection: &mut AnyConnection, url: &str) -> Result<(), StoreError> {
    let row = sqlx::query(
        "SELECT CAST(current_setting('server_version_num') AS INTEGER), current_setting('server_version'),
             current_setting('server_encoding'), (SELECT COUNT(*) FROM pg_collation WHERE collname = 'und-x-icu'),
             CAST(COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false) AS INTEGER),
             CAST(current_user AS TEXT)",
    )
    .persistent(false);
    // In a transaction, so that a connection pooler keeps to one server.
    let mut tx = connection.begin().await?;
    let row = row.fetch_one(&mut *tx).await?;
    tx.rollback().await?;
    let (number, version): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    let (encoding, user): (String, String) = (row.try_get(2)?, row.try_get(5)?);
    let server = Server {
        number,
        version,
        encoding,
        has_icu: row.try_get::<i64, _>(3)? > 0,
        may_create: row.try_get::<i32, _>(4)? == 1,
        user,
    };
    server.fault().map_or(Ok(()), |fault| {
        Err(StoreError::Unfit(format!(
            "PostgreSQL at {} cannot be used: {fault}",
            base::config::redacted_url(url)
        )))
    })
}

/// Properties of the server.
struct Server {
    number: i32,
    version: String,
    encoding: String,
    has_icu: bool,
    may_create: bool,
    user: String,
}

impl Server {
    fn fault(&self) -> Option<String> {
        let Self { number, version, encoding, user, .. } = self;
        if *number < OLDEST {
            return Some(format!("it is version {version}, and Docket needs PostgreSQL 14 or later."));
        }
        if encoding != "UTF8" {
            return Some(format!("its encoding is {encoding}. Create a database with ENCODING 'UTF8'."));
        }
        if !self.has_icu {
            return Some("it was built without ICU, which the search needs.".to_owned());
        }
        (!self.may_create).then(|| {
            format!("user {user} may not create tables. As its owner, run: GRANT CREATE ON SCHEMA public TO \"{user}\";")
        })
    }
}

/// Migrates the schema in one transaction, by one process at a time. The others poll for the lock: a statement that waits for it would hold a
/// snapshot meanwhile.
async fn migrate(pool: &Pool, url: &str) -> Result<(), StoreError> {
    let deadline = Instant::now() + MIGRATION_PATIENCE;
    loop {
        let mut tx = pool.begin_with(BEGIN).await?;
        let is_free: bool = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
            .bind(MIGRATION_LOCK)
            .fetch_one(&mut *tx)
            .await?;
        if is_free {
            extend(&mut tx, url).await?;
            let last = Dialect::Postgres.upgradable_step(&mut tx).await?;
            migrations::run(&MIGRATIONS, last, &mut tx).await?;
            return Ok(tx.commit().await?);
        }
        drop(tx);
        if Instant::now() >= deadline {
            return Err(StoreError::Unfit(format!(
                "PostgreSQL at {} is being migrated by another process for more than {} s.",
                base::config::redacted_url(url),
                MIGRATION_PATIENCE.as_secs()
            )));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Creates the one required extension, unless it exists.
async fn extend(tx: &mut Transaction<'static, Any>, url: &str) -> Result<(), StoreError> {
    let schema = sqlx::query_as::<_, (String, bool, bool, String)>(
        "SELECT quote_ident(n.nspname), has_schema_privilege(n.oid, 'USAGE'), n.nspname = ANY(current_schemas(true)),
             quote_ident(current_user)
         FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'",
    );
    match schema.fetch_optional(&mut **tx).await? {
        Some((_, true, true, _)) => return Ok(()),
        Some((schema, true, false, _)) => return find_in(tx, schema).await,
        Some((schema, false, _, user)) => {
            return Err(StoreError::Unfit(format!(
                "PostgreSQL at {} has the extension pg_trgm in the schema {schema}, which its user may not use. \
                 As a superuser of this database, run: GRANT USAGE ON SCHEMA {schema} TO {user};",
                base::config::redacted_url(url)
            )));
        }
        None => {}
    }
    match sqlx::query("CREATE EXTENSION pg_trgm").execute(&mut **tx).await {
        Ok(_) => Ok(()),
        Err(sqlx::Error::Database(error)) => Err(StoreError::Unfit(format!(
            "PostgreSQL at {} lacks the extension pg_trgm, which cannot be created: {}. \
             As a superuser of this database, run: CREATE EXTENSION pg_trgm;",
            base::config::redacted_url(url),
            error.message()
        ))),
        Err(error) => Err(error.into()),
    }
}

/// Migrations find the extension in this schema too. Later statements need it no more: they use no name of it.
async fn find_in(tx: &mut Transaction<'static, Any>, schema: String) -> Result<(), StoreError> {
    let path = "SELECT set_config('search_path', current_setting('search_path') || ', ' || $1, true)";
    sqlx::query(path).bind(schema).execute(&mut **tx).await?;
    Ok(())
}

/// Whether an SQLSTATE is that of a lost connection: of a pooler in front of the server (class 08), of a server that shuts down (57P01, 57P02),
/// or of a statement whose end is unknown (40003).
pub(super) fn loses_connection(code: &str) -> bool {
    code.len() == 5 && (code.starts_with("08") || ["57P01", "57P02", "40003"].contains(&code))
}

/// Whether an SQLSTATE is about the values of a statement.
pub(super) fn concerns_values(code: &str) -> bool {
    code.len() == 5 && OF_VALUES.iter().any(|class| code.starts_with(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_connections_have_their_codes() {
        assert!(["08006", "08P01", "57P01", "57P02", "40003"].into_iter().all(loses_connection));
        assert!(!["23505", "57014", "40001", "8", "0858"].into_iter().any(loses_connection));
    }

    fn server() -> Server {
        Server {
            number: 150_018,
            version: "15.18 (Debian 15.18-0+deb12u1)".to_owned(),
            encoding: "UTF8".to_owned(),
            has_icu: true,
            may_create: true,
            user: "docket".to_owned(),
        }
    }

    #[test]
    fn unsuitable_server_is_refused_with_the_reason() {
        assert_eq!(server().fault(), None);
        for (server, expected) in [
            (Server { number: 130_020, version: "13.20".to_owned(), ..server() }, "version 13.20"),
            (Server { encoding: "SQL_ASCII".to_owned(), ..server() }, "ENCODING 'UTF8'"),
            (Server { has_icu: false, ..server() }, "without ICU"),
            (Server { may_create: false, ..server() }, "GRANT CREATE ON SCHEMA public TO \"docket\";"),
        ] {
            let fault = server.fault().unwrap_or_default();
            assert!(fault.contains(expected), "{fault}");
        }
    }
}
