//! All metrics of a running server, for Prometheus: its instruments, figures of the database, and the state of the
//! background tasks and the process. They contain no text of people, the platform or the configuration, except ids of
//! projects.

mod process;
mod text;

use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use strum::VariantArray;

use crate::state::AppState;
use crate::telemetry::log_lines;
use base::instruments::{Labels, operation_label};
use base::traces;
use clients::upstream::health::Report;
use model::day::Day;
use model::job::JobState;
use model::pull_request::PullRequestState;
use model::time::Timestamp;
use model::upstream::Operation;
use model::user::Project;
use store::maintenance::figures::{Figure, FigureKind};
use store::platform::budget::ScopeLimit;

pub use text::Format;

const DAY_SECONDS: i64 = 86_400;

/// The response to one scrape.
pub async fn exposition(state: &AppState, format: Format) -> Result<String, fmt::Error> {
    let mut page = Page::default();
    page.gauges(
        "docket_build_info",
        "The version that runs; the value is always 1",
        [(labels([("version", env!("CARGO_PKG_VERSION"))]), 1.0)],
    );
    page.configuration(state);
    match process::figures() {
        Ok(process) => page.process(&process),
        Err(error) => tracing::warn!(%error, "the figures of the process could not be read"),
    }
    page.tasks(state);
    page.gauge(
        "docket_clock_jump_seconds",
        "How far the clock jumped ahead of the last heartbeat before, while old data is not removed because of it; 0 otherwise",
        state.clock_check.jump().map_or(0.0, |jump| jump.now.seconds_since(jump.from) as f64),
    );
    page.gauge(
        "docket_database_writable",
        "Whether the last heartbeat could be stored, in the file that the configuration names",
        f64::from(u8::from(state.heartbeat.write_fault().is_none())),
    );
    page.counters(
        "docket_trace_spans",
        "Spans of traces that were sent to the collector, could not be sent, or found no room in the queue",
        traces::spans().map(|(outcome, number)| (labels([("outcome", outcome)]), number as f64)),
    );
    page.counter(
        "docket_log_lines_dropped",
        "Lines of the log that were dropped because standard error was not read",
        log_lines::dropped() as f64,
    );
    let now = state.clock.now();
    let days = state.history.window(now);
    let figures = state.figures.read(&state.store, &state.clock, days, &state.instruments).await;
    page.gauge("docket_database_up", "Whether the database answered", f64::from(u8::from(figures.is_ok())));
    page.pools(state);
    match &figures {
        Ok(figures) => {
            page.platform(&Report::of(figures), &state.settings.current().projects, now);
            page.database(state, figures, now);
        }
        Err(error) => tracing::warn!(%error, "the figures of the database could not be read"),
    }
    let mut written = String::new();
    encode_registry(&mut written, state.instruments.registry())?;
    encode_registry(&mut written, &page.0)?;
    encode_eof(&mut written)?;
    Ok(format.of(written))
}

/// The families whose values are queried for each scrape.
#[derive(Default)]
struct Page(Registry);

type Gauges = Family<Labels, Gauge<f64, AtomicU64>>;
type Counters = Family<Labels, Counter<f64, AtomicU64>>;

impl Page {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        let gauge = Gauge::<f64, AtomicU64>::default();
        gauge.set(value);
        self.0.register(name, help, gauge);
    }

    fn configuration(&mut self, state: &AppState) {
        let read = state.settings.last_read();
        self.gauge(
            "docket_config_last_reload_successful",
            "Whether the configuration was valid when it was last read",
            f64::from(u8::from(read.refused_at.is_none())),
        );
        self.gauge(
            "docket_config_last_reload_success_timestamp_seconds",
            "When the configuration was last read and valid",
            seconds(read.succeeded_at),
        );
    }

    fn gauges(&mut self, name: &str, help: &str, rows: impl IntoIterator<Item = (Labels, f64)>) {
        let gauges = Gauges::default();
        for (labels, value) in rows {
            gauges.get_or_create(&labels).set(value);
        }
        self.0.register(name, help, gauges);
    }

    /// The name without `_total`, which is added.
    fn counter(&mut self, name: &str, help: &str, value: f64) {
        let counter = Counter::<f64, AtomicU64>::default();
        counter.inc_by(value);
        self.0.register(name, help, counter);
    }

    /// As [`Self::counter`], with labels.
    fn counters(&mut self, name: &str, help: &str, rows: impl IntoIterator<Item = (Labels, f64)>) {
        let counters = Counters::default();
        for (labels, value) in rows {
            counters.get_or_create(&labels).inc_by(value);
        }
        self.0.register(name, help, counters);
    }

    fn process(&mut self, process: &process::Figures) {
        self.counter("process_cpu_seconds", "CPU time used, in user and system mode", process.cpu_seconds);
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Resident memory", process.resident_bytes),
            ("process_virtual_memory_bytes", "Virtual memory", process.virtual_bytes),
            ("process_open_fds", "Open file descriptors", process.open_files),
            ("process_max_fds", "The most file descriptors that may be open", process.most_open_files),
            ("process_start_time_seconds", "When the process began, in Unix time", process.began_at),
        ] {
            self.gauge(name, help, value);
        }
    }

    fn tasks(&mut self, state: &AppState) {
        let tasks = state.tasks.all();
        let of = |name: &str| labels([("task", name)]);
        self.gauges(
            "docket_background_task_up",
            "Whether a background task runs, and succeeded or began lately",
            tasks.iter().map(|task| (of(&task.name), f64::from(u8::from(task.is_well)))),
        );
        self.gauges(
            "docket_background_task_last_success_timestamp_seconds",
            "When a background task last succeeded, in Unix time; absent before the first success",
            tasks.iter().filter_map(|task| Some((of(&task.name), seconds(task.last_success_at?)))),
        );
        self.counters(
            "docket_background_task_failures",
            "How often a background task failed unexpectedly and was started again",
            tasks.iter().map(|task| (of(&task.name), f64::from(task.failures))),
        );
    }

    fn platform(&mut self, report: &Report, projects: &[Project], now: Timestamp) {
        self.gauges(
            "docket_upstream_circuit_open",
            "Whether calls of an operation are paused because the platform keeps failing",
            Operation::VARIANTS.iter().map(|operation| {
                let labels = labels([("operation", operation_label(*operation))]);
                (labels, f64::from(u8::from(report.open_until(*operation, now).is_some())))
            }),
        );
        let is_refused = report.key_refused_at().is_some();
        self.gauge(
            "docket_upstream_key_refused",
            "Whether the platform refused the admin key, and has not accepted it since",
            f64::from(u8::from(is_refused)),
        );
        self.gauges(
            "docket_upstream_operation_refused",
            "Whether the platform refused an operation of a project with status 403, and has not accepted it since",
            projects.iter().flat_map(|project| {
                Operation::VARIANTS.iter().map(|operation| {
                    let labels =
                        labels([("operation", operation_label(*operation)), ("project", project.id.as_str())]);
                    (labels, f64::from(u8::from(report.is_refused(*operation, &project.id, now))))
                })
            }),
        );
    }

    fn pools(&mut self, state: &AppState) {
        let pools = state.store.pool_sizes();
        let connections = pools.iter().flat_map(|pool| {
            [("idle", pool.idle), ("used", pool.open.saturating_sub(pool.idle))].map(|(condition, number)| {
                (labels([("pool", pool.name), ("state", condition)]), f64::from(number))
            })
        });
        self.gauges("docket_database_connections", "Open connections to the database", connections);
    }

    fn database(&mut self, state: &AppState, figures: &[Figure], now: Timestamp) {
        let find = |kind: FigureKind, of_whom: &str| {
            figures.iter().find(move |figure| figure.kind == kind && figure.of_whom == of_whom)
        };
        let number =
            |kind: FigureKind, of_whom: &str| find(kind, of_whom).map_or(0.0, |figure| figure.number as f64);
        let projects = state.projects();
        let ids: Vec<&str> = projects.iter().map(|project| project.id.as_str()).collect();
        let of_project = |project: &str| labels([("project", project)]);
        let each = |value: &dyn Fn(&str) -> f64| -> Vec<(Labels, f64)> {
            ids.iter().map(|project| (of_project(project), value(project))).collect()
        };
        let age = |kind: FigureKind, project: &str| {
            let begun = find(kind, project).map(|figure| Timestamp::from_millis(figure.number));
            begun.map_or(0.0, |begun| (now.as_millis() - begun.as_millis()).max(0) as f64 / 1_000.0)
        };

        let limits = state.governor.limits(&projects);
        let used = |counted: &ScopeLimit| {
            let own = number(FigureKind::Calls, &counted.scope);
            let is_alone = counted.other == counted.scope;
            if is_alone { own } else { own + number(FigureKind::Calls, &counted.other) }
        };
        let of_scope = |scope: &str| {
            let (kind, project) = scope.split_once(':').unwrap_or((scope, ""));
            labels([("scope", kind.replace('-', "_")), ("project", project.to_owned())])
        };
        self.gauges(
            "docket_upstream_budget_used",
            "Calls of the last hour, of those that the limit allows",
            limits.iter().map(|limit| (of_scope(&limit.name), used(&limit.counted))),
        );
        self.gauges(
            "docket_upstream_budget_limit",
            "Calls that are allowed in an hour",
            limits.iter().map(|limit| (of_scope(&limit.name), f64::from(limit.counted.limit))),
        );
        let report = Report::of(figures);
        self.gauges(
            "docket_upstream_credits_used_up",
            "Whether the prompts of a project wait for AI credits of the platform",
            projects.iter().map(|project| {
                let has_prompts = number(FigureKind::Queued, project.id.as_str()) > 0.0;
                let lacks = report.lacks_credits(&project.id, has_prompts, now);
                (of_project(project.id.as_str()), f64::from(u8::from(lacks)))
            }),
        );
        self.gauges(
            "docket_queue_prompts",
            "Prompts that wait in the queue",
            each(&|project| number(FigureKind::Queued, project)),
        );
        self.gauges(
            "docket_queue_oldest_seconds",
            "How long the oldest prompt in the queue has waited; 0 if there is none",
            each(&|project| age(FigureKind::QueueHead, project)),
        );
        let jobs = ids.iter().flat_map(|project| {
            JobState::ALL.into_iter().map(move |job_state| {
                let name: &'static str = job_state.into();
                let is_it = |figure: &&Figure| {
                    figure.kind == FigureKind::Jobs
                        && figure.of_whom == **project
                        && figure.state.parse() == Ok(job_state)
                };
                let number = figures.iter().find(is_it).map_or(0.0, |figure| figure.number as f64);
                (labels([("project", *project), ("state", name)]), number)
            })
        });
        self.gauges("docket_jobs", "Jobs in the database, archived ones too, by state", jobs);
        self.gauges(
            "docket_jobs_tracked",
            "Jobs whose state is polled",
            each(&|project| number(FigureKind::Tracked, project)),
        );
        self.gauges(
            "docket_poll_overdue_seconds",
            "How long the next job to be polled is overdue; 0 if none is",
            each(&|project| age(FigureKind::NextPoll, project)),
        );
        let window = state.history.window(now);
        let history = ids.iter().flat_map(|project| {
            let present = number(FigureKind::Days, project);
            [("present", present), ("missing", (window.days() as f64 - present).max(0.0))]
                .map(|(condition, days)| (labels([("project", *project), ("state", condition)]), days))
        });
        self.gauges("docket_history_days", "Days of page views that are synced", history);
        self.gauges(
            "docket_history_lag_seconds",
            "Time since the end of the newest day of page views; the whole window if there is none",
            each(&|project| {
                let newest =
                    find(FigureKind::NewestDay, project).and_then(|figure| figure.state.parse::<Day>().ok());
                let lag = newest.map_or(window.days() * DAY_SECONDS, |day| {
                    now.seconds_since(day.plus_days(1).start()).max(0)
                });
                lag as f64
            }),
        );
        let requests = ids.iter().flat_map(|project| {
            PullRequestState::VARIANTS.iter().map(move |state| {
                let is_it = |figure: &&Figure| {
                    figure.kind == FigureKind::PullRequests
                        && figure.of_whom == **project
                        && figure.state.parse() == Ok(*state)
                };
                let number = figures.iter().find(is_it).map_or(0.0, |figure| figure.number as f64);
                (labels([("project", *project), ("state", state.as_str())]), number)
            })
        });
        self.gauges("docket_pull_requests", "Pull requests of jobs, by state", requests);
        let hosts = state.code_hosts.hosts();
        let of_hosts = |kind: FigureKind, unknown: f64| {
            let number = move |host: &str| {
                let is_it = |figure: &&Figure| figure.kind == kind && figure.of_whom == host;
                figures.iter().find(is_it).map_or(unknown, |figure| figure.number as f64)
            };
            hosts.iter().map(move |host| (labels([("host", host)]), number(host)))
        };
        self.gauges(
            "docket_code_host_requests_left",
            "What remains of the limit of a code host until it is reset; NaN before the first response",
            of_hosts(FigureKind::CodeHostLeft, f64::NAN),
        );
        self.gauges(
            "docket_code_host_failures",
            "Failures in a row of requests to a code host; 0 if the last one succeeded",
            of_hosts(FigureKind::CodeHostFailures, 0.0),
        );
        self.gauges(
            "docket_webhook_events_waiting",
            "Events that are still to be delivered to a webhook",
            each(&|project| number(FigureKind::WebhookEvents, project)),
        );
    }
}

fn labels<V: ToString, const N: usize>(labels: [(&'static str, V); N]) -> Labels {
    labels.into_iter().map(|(name, value)| (name, value.to_string().into())).collect()
}

fn seconds(at: Timestamp) -> f64 {
    at.as_millis() as f64 / 1_000.0
}
