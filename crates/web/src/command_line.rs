//! The command line: arguments, logging, exit codes. The commands are in [`commands`].

use std::env;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use tokio::runtime::Builder;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, registry, reload};

use crate::commands;
use crate::commands::emulator::{
    DEFAULT_PAGES, DEFAULT_PER_HOUR, DEFAULT_PROJECTS, DEFAULT_SEED, EmulatorConfig,
};
use crate::commands::serve::Start;
use crate::http::Site;
use crate::process::reload::{LogFilter, Reloading};
use crate::process::sockets::Sockets;
use crate::process::stop_signals::StopSignals;
use crate::telemetry::log_lines::{self, LastLines};
use crate::telemetry::panics;
use crate::telemetry::trace_export::Traces;
use base::allocator;
use base::clock::Clock;
use base::config::{
    Config, ConfigError, Database, KEYS, Log, LogFormat, RetentionConfig, Source, configured_address,
    configured_admin_password, configured_projects, listen_address,
};
use base::traces::NOT_LOGGED;
use base::work::Docket;
use client::output;
use model::time::Timestamp;
use service::auth::first_admin;
use store::StoreError;
use store::audit::ChainLink;

/// A web dashboard for teams whose documentation is maintained by an AI agent.
#[derive(Parser)]
#[command(name = "docket", version, after_help = configuration_help())]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Configuration file of a server [env: DOCKET_CONFIG] [default: Leptos.toml beside the binary, or in the working directory]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Server(ServerCommand),
    // Without the configuration and the database.
    #[command(flatten)]
    Client(client::Command),
}

#[derive(Subcommand)]
enum ServerCommand {
    /// Run the server (the default command)
    Serve,
    /// Run the server against a built-in emulator, with sample projects, jobs and a year of page views
    Demo {
        /// Listen address
        #[arg(long, env = "DOCKET_ADDR", value_name = "HOST:PORT", value_parser = listen_address, default_value = "127.0.0.1:3000")]
        addr: SocketAddr,
        /// Folder of the database [default: a temporary one]
        #[arg(long, env = "DOCKET_DEMO_DATA", value_name = "DIR")]
        data: Option<PathBuf>,
        /// A time that does not pass, so that pictures of the pages are the same on each day
        #[arg(long, value_name = "RFC3339", hide = true)]
        at: Option<Timestamp>,
    },
    /// Run the emulator of the platform alone, for development and tests
    Emulator {
        /// Listen address
        #[arg(long, env = "DOCKET_EMULATOR_ADDR", value_name = "HOST:PORT", value_parser = listen_address, default_value = "127.0.0.1:4000")]
        addr: SocketAddr,
        /// The admin key it accepts
        #[arg(long, env = "DOCKET_EMULATOR_KEY", default_value = "mint_of_the_emulator")]
        key: String,
        /// The ids of its projects, separated by commas; it refuses all others
        #[arg(long, value_name = "IDS", default_value = DEFAULT_PROJECTS)]
        projects: String,
        /// Pages in each project's documentation
        #[arg(long, env = "DOCKET_EMULATOR_PAGES", value_name = "N", default_value_t = DEFAULT_PAGES)]
        pages: u32,
        /// Calls per hour that each of its limits allows
        #[arg(long, value_name = "N", default_value_t = DEFAULT_PER_HOUR)]
        per_hour: usize,
        /// Seed of the generated data
        #[arg(long, env = "DOCKET_EMULATOR_SEED", value_name = "N", default_value_t = DEFAULT_SEED)]
        seed: u64,
        /// Serve an emulated code host too, at the same address; its token is the key
        #[arg(long)]
        code_host: bool,
    },
    /// Check configuration, database, files, clocks, platform, code hosts and receivers; prints one line each
    ///
    /// Exits 0 if nothing failed, 1 if something did, 2 if the usage or the configuration is wrong. Each check ends within a bounded time.
    Check {
        /// Print one JSON document: {"ok", "checks": [{"name", "outcome": "ok"|"warning"|"failed", "sentence"}]}
        #[arg(long)]
        json: bool,
    },
    /// Ask the server on this machine whether it is up; exits 0 if so, 1 if not. For containers
    Healthcheck {
        /// Ask whether it is ready for requests, too: not while its database is down, or while it stops
        #[arg(long)]
        ready: bool,
    },
    /// Manage accounts; passwords are read from a prompt or standard input
    User {
        #[command(subcommand)]
        action: commands::user::Action,
    },
    /// Manage API tokens, with which scripts call the API
    Token {
        #[command(subcommand)]
        action: commands::token::Action,
    },
    /// Work with the audit log
    Audit {
        #[command(subcommand)]
        action: AuditCommand,
    },
    /// Delete the rows whose retention is over, as the server does once a day; prints the number of rows per table
    ///
    /// Fails if the clock is more than a day ahead of the last heartbeat of a server: it may be wrong.
    Purge {
        /// Only count them
        #[arg(long)]
        dry_run: bool,
        /// Trust the clock: you checked that the time is right
        #[arg(long)]
        trust_clock: bool,
    },
    /// Write a consistent copy of the database while the server runs
    Backup {
        /// The file to write; must not exist yet
        file: PathBuf,
    },
    /// Put a backup back as the database; stop the server first
    ///
    /// Checks a copy of the backup and brings it up to date before anything is replaced. The database that is there is kept beside it,
    /// under another name. Queued prompts are put on hold until an administrator releases them: they may have been sent since.
    /// Everybody signs in again.
    Restore {
        /// The backup, as `docket backup` or a running server wrote it
        file: PathBuf,
        /// Only check whether it could be put back; also while the server runs
        #[arg(long)]
        dry_run: bool,
        /// Put it back although its audit log fails verification
        #[arg(long)]
        accept_broken_audit: bool,
    },
    /// Describe what this version would do to the database, and what to do before; changes nothing
    UpgradeCheck {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy everything into another database, SQLite or PostgreSQL, and prove that it arrived; stop the server first
    ///
    /// Reads the source in one snapshot and changes nothing there. The target must be empty: if anything fails, it stays empty. Prompts
    /// that wait in the queue are copied too: never serve the source again, or they are sent twice.
    Copy {
        /// The database to read, as in DOCKET_DATABASE_URL
        #[arg(long, value_name = "URL")]
        from: String,
        /// The empty database to write; a file is created
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// Write manual pages and shell completions, for packages
    #[command(hide = true)]
    Generate {
        /// The folder to write them into
        folder: PathBuf,
    },
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Verify that no record was changed, removed or inserted; exits 0 if so, 1 if not, and names the record
    ///
    /// Every record has a hash of itself and the one before. A log whose end was cut off, or that was rewritten
    /// from some record on, is valid by itself: only data stored elsewhere shows the change. Keep the last line of this command,
    /// or a backup, and pass it to a later run. Read-only; works while the server runs.
    Verify {
        /// A backup of the database to compare the log with
        #[arg(long, value_name = "FILE")]
        copy: Option<PathBuf>,
        /// The last record of an earlier run, as it was printed
        #[arg(long, value_name = "NUMBER:HASH")]
        since: Option<ChainLink>,
    },
}

/// Why the process exits with a code other than 0.
enum Failure {
    /// Wrong usage or configuration.
    Configuration(ConfigError),
    Other(anyhow::Error),
}

/// Runs the command that the arguments of the process name. The server has the pages of `site`.
pub fn main(site: Site) -> ExitCode {
    allocator::purge_soon();
    let _last_lines = LastLines;
    output::diagnose_by(log_lines::print);
    let Some(docket) = Docket::take() else { return ExitCode::FAILURE };
    // Before the runtime starts threads, because this removes environment variables.
    let sockets = Sockets::inherited();
    let runtime = match Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::inform(&format!("the threads of this process cannot be started: {error}"));
            return ExitCode::FAILURE;
        }
    };
    client::block_on(runtime, command(site, sockets, docket))
}

async fn command(site: Site, sockets: anyhow::Result<Sockets>, docket: Docket) -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(usage) => return output::print_usage(&usage),
    };
    let command = match arguments.command {
        Some(Command::Client(command)) => return client::run(command).await,
        Some(Command::Server(command)) => command,
        None => ServerCommand::Serve,
    };
    // Boxed: otherwise the binary has a copy of every command for each kind of runtime.
    let file = arguments.config.or_else(configured_file);
    let command: Pin<Box<dyn Future<Output = _>>> = Box::pin(run(command, file, site, sockets, docket));
    match command.await {
        Ok(()) => output::exit_code(),
        Err(failure) => failure.report(),
    }
}

/// The configuration file that the environment names; an empty variable names none. clap would read it for the client, too.
fn configured_file() -> Option<PathBuf> {
    env::var_os("DOCKET_CONFIG").filter(|file| !file.is_empty()).map(PathBuf::from)
}

async fn run(
    command: ServerCommand,
    file: Option<PathBuf>,
    site: Site,
    sockets: anyhow::Result<Sockets>,
    docket: Docket,
) -> Result<(), Failure> {
    let source = Source::load(file.as_deref())?;
    let log = Log::from_source(&source)?;
    match command {
        ServerCommand::Serve => {
            let signals = StopSignals::receive()?;
            let config = Config::from_source(&source)?;
            first_admin::check(config.admin_password.as_ref())?;
            let traces = commands::serve::start_traces(&config)?;
            let log = start_server_logging(&log, traces.as_ref())?;
            let reloading = Reloading { file, source, log, work: docket.task("reload", Clock::system()) };
            let start = Start { config, reloading, sockets: sockets?, site, signals };
            let ended = commands::serve::serve(start, docket).await;
            if let Some(traces) = traces {
                traces.stop().await;
            }
            ended?;
        }
        ServerCommand::Demo { addr, data, at } => {
            let signals = StopSignals::receive_with_hangup()?;
            let password = configured_admin_password(&source)?;
            drop(start_server_logging(&quiet_unless_configured(log), None)?);
            let options = commands::demo::Options { addr, data, at, password };
            commands::demo::demo(options, site, docket, signals).await?;
        }
        ServerCommand::Emulator { addr, key, projects, pages, per_hour, seed, code_host } => {
            let signals = StopSignals::receive()?;
            drop(start_server_logging(&log, None)?);
            let config = EmulatorConfig { key, projects, pages, per_hour, seed, code_host: None };
            commands::emulator::emulator(addr, config, code_host, signals).await?;
        }
        ServerCommand::Check { json } => {
            let config = Config::from_source(&source)?;
            start_logging(&quiet_unless_configured(log));
            commands::check(config, &source, json, &docket).await?;
        }
        ServerCommand::Healthcheck { ready } => {
            let addr = configured_address(&source)?;
            commands::healthcheck(addr, ready)?;
        }
        ServerCommand::User { action } => {
            let database = Database::from_source(&source)?;
            let projects = configured_projects(&source)?;
            start_logging(&quiet_unless_configured(log));
            commands::user::user(&database, projects, action, &docket).await?;
        }
        ServerCommand::Token { action } => {
            let database = Database::from_source(&source)?;
            let projects = configured_projects(&source)?;
            start_logging(&quiet_unless_configured(log));
            commands::token::token(&database, projects, action, &docket).await?;
        }
        ServerCommand::Audit { action: AuditCommand::Verify { copy, since } } => {
            let database = Database::from_source(&source)?;
            start_logging(&quiet_unless_configured(log));
            commands::audit::verify(&database, commands::audit::Verify { copy, since }).await?;
        }
        ServerCommand::Purge { dry_run, trust_clock } => {
            let database = Database::from_source(&source)?;
            let (retention, _) = RetentionConfig::with_budget(&source)?;
            start_logging(&quiet_unless_configured(log));
            let options = commands::purge::Options { dry_run, trusts_clock: trust_clock };
            commands::purge::purge(&database, retention, options, &docket).await?;
        }
        ServerCommand::Backup { file } => {
            let database = Database::from_source(&source)?;
            start_logging(&quiet_unless_configured(log));
            commands::backup(&database, &file).await?;
        }
        ServerCommand::Restore { file, dry_run, accept_broken_audit } => {
            let database = Database::named(&source)?;
            start_logging(&without_slow_statements(quiet_unless_configured(log)));
            let options = commands::restore::Options {
                backup: file,
                accepts_broken_audit: accept_broken_audit,
                dry_run,
            };
            commands::restore(&database, options, &docket).await?;
        }
        ServerCommand::UpgradeCheck { json } => {
            let database = Database::from_source(&source)?;
            start_logging(&without_slow_statements(quiet_unless_configured(log)));
            commands::upgrade_check(&database, json).await?;
        }
        ServerCommand::Copy { from, to } => {
            let (from, to) = Database::source_and_target(&source, &from, &to)?;
            if store::is_same(&from.url, &to.url) {
                return Err(ConfigError("--from and --to are the same database.".to_owned()).into());
            }
            start_logging(&without_slow_statements(quiet_unless_configured(log)));
            commands::copy(&from, &to).await?;
        }
        ServerCommand::Generate { folder } => commands::generate(Arguments::command(), &folder)?,
    }
    Ok(())
}

/// The log of a command, which waits for the reader of its output.
fn start_logging(log: &Log) {
    drop(start_logging_to(BoxMakeWriter::new(std::io::stderr), log, None));
}

/// The log of a server, which never waits for the reader. Returns the function that replaces the filter.
fn start_server_logging(log: &Log, traces: Option<&Traces>) -> anyhow::Result<LogFilter> {
    let lines = log_lines::start().context("a thread for the log")?;
    let filter = start_logging_to(BoxMakeWriter::new(lines), log, traces);
    panics::log();
    Ok(filter)
}

/// Logs go to standard error; standard output is for the results of commands.
fn start_logging_to(writer: BoxMakeWriter, log: &Log, traces: Option<&Traces>) -> LogFilter {
    let filter = filter(&log.filter);
    // Errors of the logging itself would be printed to standard error, and wait for its reader.
    let lines =
        layer().with_ansi(std::io::stderr().is_terminal()).log_internal_errors(false).with_writer(writer);
    let lines = match log.format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    // Without traces, one filter for all layers prevents the creation of events that are not logged.
    match traces {
        None => {
            let (filter, handle) = reload::Layer::new(filter);
            registry().with(lines).with(filter).init();
            replacing(handle)
        }
        Some(traces) => {
            let (filter, handle) = reload::Layer::new(filter);
            registry().with(lines.with_filter(filter)).with(traces.layer()).init();
            replacing(handle)
        }
    }
}

fn filter(text: &str) -> EnvFilter {
    EnvFilter::new(format!("{text},{NOT_LOGGED}"))
}

fn replacing<S: 'static>(handle: reload::Handle<EnvFilter, S>) -> LogFilter {
    Box::new(move |text: &str| Ok(handle.reload(filter(text))?))
}

/// Commands with output for people log only warnings and errors, unless a filter is configured. They do not warn of a slow connection to
/// the database: on a busy machine, it takes seconds to start.
fn quiet_unless_configured(log: Log) -> Log {
    if log.is_default { Log { filter: "warn,sqlx::pool=error".to_owned(), ..log } } else { log }
}

/// Commands that read whole tables do not warn of statements that take more than a second.
fn without_slow_statements(log: Log) -> Log {
    if log.is_default { Log { filter: format!("{},sqlx::query=error", log.filter), ..log } } else { log }
}

fn configuration_help() -> String {
    let mut help =
        String::from("Configuration, in the environment or (lower case, without DOCKET_) in Leptos.toml:\n");
    for key in KEYS.iter() {
        let default =
            if key.default.is_empty() { String::new() } else { format!(" [default: {}]", key.default) };
        help.push_str(&format!("  {:<32} {}{default}\n", key.variable(), key.meaning));
    }
    help
}

impl Failure {
    fn report(&self) -> ExitCode {
        match self {
            Self::Configuration(error) => {
                output::inform(&error.to_string());
                ExitCode::from(2)
            }
            Self::Other(error) => {
                output::inform(&format!("{error:#}"));
                ExitCode::FAILURE
            }
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Configuration(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast_ref() {
            Some(StoreError::Misconfigured(wrong)) => Self::Configuration(ConfigError(wrong.clone())),
            _ => Self::Other(error),
        }
    }
}
