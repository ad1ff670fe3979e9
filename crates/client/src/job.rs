//! `docket job`: starts, shows, lists, follows up, cancels and resolves jobs; [`list`] has the list, and [`resolve`] the decisions.

mod list;
mod resolve;

use std::io::Read;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use self::list::ListArguments;
use self::resolve::ResolveArguments;
use crate::connection::{Connection, parsed};
use crate::failure::{TimeIsOver, UnknownEnd};
use crate::idempotency_key::IdempotencyKey;
use crate::output::{StatusLine, in_one_line, inform, is_lost, print_json, print_line};
use crate::request::{ApiRequest, id};
use crate::{Outcome, project_or_only};
use model::job::{DeliveryState, JobState};
use model::links;

/// The longest wait of one request, in seconds: load balancers end a request without a response after 60 seconds, and some after 30.
const WAIT_MAX: u64 = 25;
/// The maximum size of a prompt or a list on standard input or in a file.
const TEXT_MAX_MIB: usize = 1;
const TEXT_MAX_BYTES: usize = TEXT_MAX_MIB * 1024 * 1024;
/// Effectively never.
const TIMEOUT_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The shortest time between two requests that wait.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

#[derive(Subcommand)]
pub enum JobCommand {
    /// Start a job; prints its id, state and address, and with --wait its end too
    ///
    /// Exits 0 if the prompt was sent or queued (with --wait: if the job completed), 3 if the job failed or was rejected, 4 if it is
    /// unknown whether the platform or Docket received the prompt, or how the job ended, 5 if the job did not end in time.
    Start(StartArguments),
    /// Show a job; exits 3 if it failed or was rejected, 4 if its outcome is unknown
    Show {
        #[arg(value_parser = id)]
        job: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        waiting: Waiting,
    },
    /// List jobs, the newest first: id, state, time, author, title
    List(ListArguments),
    /// Send a follow-up to a job; prints the job, and with --wait its end too
    ///
    /// Exits 0 if this follow-up was sent or queued (with --wait: if the job completed after it), 3 if it was rejected or cancelled (with --wait:
    /// also if the job failed), 4 if its outcome is unknown, 5 if the job did not end in time.
    FollowUp {
        #[arg(value_parser = id)]
        job: String,
        /// The prompt; - reads standard input
        prompt: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        sending: Sending,
        #[command(flatten)]
        waiting: Waiting,
    },
    /// Cancel the queued prompts of a job; what was sent cannot be cancelled
    ///
    /// Exits 0 if they are cancelled, by this run or before, 4 if it is unknown whether Docket received the request.
    Cancel {
        #[arg(value_parser = id)]
        job: String,
        #[command(flatten)]
        common: Common,
    },
    /// Decide about a prompt whose outcome is unknown: send it again, or track the job that the platform started
    ///
    /// Look at the platform first: a prompt that was started and is sent again runs twice. Exits as show does.
    Resolve(ResolveArguments),
}

#[derive(Args)]
pub struct StartArguments {
    /// The prompt; - reads standard input. Optional with --template
    #[arg(required_unless_present = "template")]
    prompt: Option<String>,
    #[command(flatten)]
    common: Common,
    /// The path of a page it is about; may be repeated
    #[arg(long = "page", value_name = "PATH")]
    pages: Vec<String>,
    /// A tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The name of a template
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// The value of a placeholder of the template; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "template", value_parser = name_and_value)]
    values: Vec<(String, String)>,
    /// The id of a job that this one runs again. It ended without a pull request, and is resolved if this one opens one
    #[arg(long, value_name = "JOB")]
    retry_of: Option<String>,
    #[command(flatten)]
    sending: Sending,
    #[command(flatten)]
    waiting: Waiting,
}

#[derive(Args)]
pub struct Common {
    /// The project [default: the only one of the token]
    #[arg(long, value_name = "ID", value_parser = id)]
    pub(super) project: Option<String>,
    /// Print the response of the API
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args)]
pub struct Sending {
    /// If the prompt cannot be sent at once, queue it; otherwise it is refused or rejected
    #[arg(long)]
    queue: bool,
    /// Runs with the same key send the prompt once: any text, such as the id of a CI run or release/v1.2.3 [default: a new key, which is printed]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    key: Option<String>,
}

#[derive(Args)]
pub struct Waiting {
    /// Wait for the end
    #[arg(long)]
    pub(super) wait: bool,
    /// How long the command may take from its first request on, such as 90s, 30m or 2h. It ends at most 5 seconds later. Until then, a
    /// request for the state that fails for a passing reason is repeated
    #[arg(long, value_name = "TIME", requires = "wait", default_value = "30m", value_parser = humantime::parse_duration)]
    pub(super) timeout: Duration,
}

/// The fields of a job that are printed. Without the scope `jobs:read`, a response has few of them.
#[derive(Deserialize)]
pub(super) struct ShownJob {
    id: String,
    #[serde(deserialize_with = "state")]
    state: JobState,
    /// Missing in responses of an earlier version.
    ended: Option<bool>,
    #[serde(default, deserialize_with = "optional_state")]
    earlier_outcome: Option<JobState>,
    #[serde(default)]
    follow_ups: Vec<ShownFollowUp>,
    /// That of the follow-up that the request sent.
    #[serde(default, deserialize_with = "known")]
    follow_up_state: Option<DeliveryState>,
    reason: Option<String>,
    /// Missing in responses of an earlier version, and without the scope `jobs:read`.
    attempt: Option<u32>,
    pull_request: Option<ShownPullRequest>,
    #[serde(default)]
    pull_request_is_earlier: bool,
    #[serde(default)]
    published_directly: bool,
}

#[derive(Deserialize)]
struct ShownFollowUp {
    id: Option<String>,
    #[serde(deserialize_with = "known")]
    state: Option<DeliveryState>,
    reason: Option<String>,
    attempt: Option<u32>,
}

/// What a command shows and awaits.
struct Shown<'a> {
    project: &'a str,
    of: Subject,
    waiting: &'a Waiting,
    /// When the wait is over; `None` if there is none.
    until: Option<Instant>,
    as_json: bool,
}

/// What the outcome of a command depends on.
enum Subject {
    Job,
    /// The follow-up with this id. A server of an earlier version names none: then it is the last one.
    FollowUp(Option<String>),
}

/// A value of an enumeration; `None` if this version does not know it.
fn known<'de, D: Deserializer<'de>, T: FromStr>(value: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<String>::deserialize(value)?.and_then(|name| name.parse().ok()))
}

/// A state. One that this version does not know counts as `other`.
fn state<'de, D: Deserializer<'de>>(value: D) -> Result<JobState, D::Error> {
    Ok(known(value)?.unwrap_or(JobState::Other))
}

/// As [`state`], for one that may be missing.
fn optional_state<'de, D: Deserializer<'de>>(value: D) -> Result<Option<JobState>, D::Error> {
    let name = Option::<String>::deserialize(value)?;
    Ok(name.map(|name| name.parse().unwrap_or(JobState::Other)))
}

#[derive(Deserialize)]
struct ShownPullRequest {
    url: String,
}

pub(super) async fn job(connection: &Connection, command: JobCommand) -> anyhow::Result<Outcome> {
    or_unknown(run(connection, command).await)
}

/// The outcome of a command. A change that the server may have carried out has an unknown one.
pub(super) fn or_unknown(outcome: anyhow::Result<Outcome>) -> anyhow::Result<Outcome> {
    match outcome {
        Err(error) if error.is::<UnknownEnd>() => {
            inform(&error.to_string());
            Ok(Outcome::Unknown)
        }
        Err(error) if error.is::<TimeIsOver>() => {
            inform(&error.to_string());
            Ok(Outcome::TimedOut)
        }
        ended => ended,
    }
}

async fn run(connection: &Connection, command: JobCommand) -> anyhow::Result<Outcome> {
    match command {
        JobCommand::Start(arguments) => start(connection, arguments).await,
        JobCommand::Show { job, common, waiting } => {
            let until = waiting.until();
            let project = project_or_only(connection, common.project, until).await?;
            let body =
                connection.send(&ApiRequest::get(&["projects", &project, "jobs", &job]), until).await?;
            let shown =
                Shown { project: &project, of: Subject::Job, waiting: &waiting, until, as_json: common.json };
            finish(connection, body, shown).await
        }
        JobCommand::List(arguments) => {
            list::list(connection, arguments).await?;
            Ok(Outcome::Done)
        }
        JobCommand::FollowUp { job, prompt, common, sending, waiting } => {
            let body = json!({"prompt": text(prompt)?, "queue": sending.queue});
            let until = waiting.until();
            let project = project_or_only(connection, common.project, until).await?;
            let path = ["projects", &project, "jobs", &job, "messages"];
            let key = IdempotencyKey::of_run(sending.key.as_deref());
            let body = connection.send(&ApiRequest::post(&path).with_body(body, &key), until).await?;
            let of = Subject::FollowUp(body["follow_up_id"].as_str().map(str::to_owned));
            let shown = Shown { project: &project, of, waiting: &waiting, until, as_json: common.json };
            finish(connection, body, shown).await
        }
        JobCommand::Cancel { job, common } => {
            let project = project_or_only(connection, common.project, None).await?;
            let path = ["projects", &project, "jobs", &job, "cancel"];
            let cancelled = connection.send(&ApiRequest::post(&path), None).await?;
            show(connection, &project, &cancelled, common.json)?;
            Ok(Outcome::Done)
        }
        JobCommand::Resolve(arguments) => resolve::resolve(connection, arguments).await,
    }
}

async fn start(connection: &Connection, arguments: StartArguments) -> anyhow::Result<Outcome> {
    let StartArguments { prompt, common, pages, tags, template, values, retry_of, sending, waiting } =
        arguments;
    let prompt = prompt.map(text).transpose()?;
    let until = waiting.until();
    let project = project_or_only(connection, common.project, until).await?;
    let mut body = json!({"pages": pages, "tags": tags, "queue": sending.queue});
    if let Some(prompt) = prompt {
        body["prompt"] = prompt.into();
    }
    if let Some(name) = template {
        let values: Map<String, Value> =
            values.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        // The server finds it, so that a repeated run does not need the template any more.
        body["template"] = json!({"name": name, "values": values});
    }
    if let Some(job) = retry_of {
        body["retry_of"] = job.into();
    }
    let key = IdempotencyKey::of_run(sending.key.as_deref());
    let request = ApiRequest::post(&["projects", &project, "jobs"]).with_body(body, &key);
    let started = connection.send(&request, until).await?;
    let shown = Shown { project: &project, of: Subject::Job, waiting: &waiting, until, as_json: common.json };
    finish(connection, started, shown).await
}

/// Waits for the end of the job if that is wanted, prints it, and returns how it ended.
async fn finish(connection: &Connection, mut body: Value, shown: Shown<'_>) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let Shown { project, as_json, .. } = shown;
    let mut job: ShownJob = parsed(&body)?;
    let until = match shown.until {
        Some(until) if !shown.has_ended(&job) => until,
        _ => {
            show(connection, project, &body, as_json)?;
            shown.print_follow_up(&job);
            return Ok(shown.outcome(&job));
        }
    };
    // Before anything else can fail. With --json, standard output is one document.
    match as_json {
        true => inform(&format!("{}  {}", job.id, job.state)),
        false => show(connection, project, &body, false)?,
    }
    let mut progress = StatusLine::new(true);
    while !shown.has_ended(&job) {
        let since = humantime::format_duration(Duration::from_secs(started.elapsed().as_secs()));
        progress.show(&format!("{}  {}  {since}", job.id, job.state));
        // A server that stops responds at once.
        let next = tokio::time::Instant::now() + PAUSE;
        let Some(latest) = latest(connection, &["projects", project, "jobs", &job.id], until).await? else {
            break;
        };
        body = latest;
        job = parsed(&body)?;
        if !shown.has_ended(&job) {
            tokio::time::sleep_until(next.min(until.into())).await;
        }
    }
    progress.end();
    let has_ended = shown.has_ended(&job);
    if !has_ended {
        inform(&format!("the job has not ended after {}", humantime::format_duration(shown.waiting.timeout)));
    }
    show_end(&body, as_json)?;
    shown.print_follow_up(&job);
    Ok(if has_ended { shown.outcome(&job) } else { Outcome::TimedOut })
}

/// A job or a batch, at its end or after a while; `None` if the wait is over.
pub(super) async fn latest(
    connection: &Connection,
    path: &[&str],
    until: Instant,
) -> anyhow::Result<Option<Value>> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(None);
    }
    let request = ApiRequest::get(path).with("wait", Some(left.as_secs().clamp(1, WAIT_MAX)));
    match connection.send(&request, Some(until)).await {
        Ok(body) => Ok(Some(body)),
        Err(error) if error.is::<TimeIsOver>() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Shown<'_> {
    /// Whether there is nothing to wait for. A follow-up that the platform accepted has the end of its job.
    fn has_ended(&self, job: &ShownJob) -> bool {
        match self.follow_up_state(job) {
            None | Some(DeliveryState::Accepted) => job.has_ended(),
            Some(state) => state.has_outcome(),
        }
    }

    fn outcome(&self, job: &ShownJob) -> Outcome {
        match self.follow_up_state(job) {
            Some(DeliveryState::Rejected | DeliveryState::Cancelled) => Outcome::Failed,
            Some(DeliveryState::Unknown) => Outcome::Unknown,
            Some(_) if !self.waiting.wait => Outcome::Done,
            _ => Outcome::of(job),
        }
    }

    /// The follow-up, if the job names it.
    fn follow_up<'j>(&self, job: &'j ShownJob) -> Option<&'j ShownFollowUp> {
        let Subject::FollowUp(id) = &self.of else { return None };
        job.follow_ups.iter().rfind(|follow_up| id.is_none() || follow_up.id == *id)
    }

    /// The state of the follow-up; `None` for a job.
    fn follow_up_state(&self, job: &ShownJob) -> Option<DeliveryState> {
        match self.of {
            Subject::Job => None,
            Subject::FollowUp(_) => {
                self.follow_up(job).and_then(|follow_up| follow_up.state).or(job.follow_up_state)
            }
        }
    }

    /// Prints what became of the follow-up, which the state of the job does not say. With `--json`, standard output is one document.
    fn print_follow_up(&self, job: &ShownJob) {
        let Some(line) = self.line_of_follow_up(job) else { return };
        match self.as_json {
            true => inform(&in_one_line(&line)),
            false => print_line(&in_one_line(&line)),
        }
    }

    fn line_of_follow_up(&self, job: &ShownJob) -> Option<String> {
        let Subject::FollowUp(given) = &self.of else { return None };
        let (state, found) = (self.follow_up_state(job)?.as_str(), self.follow_up(job));
        let id = given.as_ref().or(found.and_then(|follow_up| follow_up.id.as_ref()));
        let id = id.map(|id| format!(" {id}")).unwrap_or_default();
        let reason = found.and_then(|follow_up| follow_up.reason.as_ref());
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        Some(format!("follow-up{id}  {state}{reason}"))
    }
}

impl ShownJob {
    /// Its id, its state and its pull request.
    pub(super) fn summary(&self) -> String {
        let pull_request = self.pull_request.as_ref().map(|request| format!("  {}", request.url));
        format!("{}  {}{}", self.id, self.state, pull_request.unwrap_or_default())
    }

    fn has_ended(&self) -> bool {
        self.ended.unwrap_or(!self.state.is_moving())
    }
}

impl Waiting {
    /// When the wait is over, which begins now; `None` if there is none.
    pub(super) fn until(&self) -> Option<Instant> {
        self.wait.then(|| Instant::now() + self.timeout.min(TIMEOUT_MAX))
    }
}

impl Outcome {
    fn of(job: &ShownJob) -> Self {
        match job.earlier_outcome.unwrap_or(job.state) {
            JobState::Failed | JobState::Rejected | JobState::Cancelled => Self::Failed,
            JobState::Unknown => Self::Unknown,
            // Docket stopped tracking it.
            JobState::Other if job.has_ended() => Self::Unknown,
            _ => Self::Done,
        }
    }
}

/// Prints a job: its id and state, why it is in this state, its page, and its pull request.
fn show(connection: &Connection, project: &str, body: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        print_json(&body.to_string());
    } else {
        let job: ShownJob = parsed(body)?;
        print_state(&job);
        print_line(&in_one_line(&connection.address(&links::job(project, &job.id))));
        print_pull_request(&job);
    }
    // The job must be found by somebody who cannot read the output.
    if is_lost() {
        let ShownJob { id, state, .. } = parsed(body)?;
        inform(&format!("{id}  {state}"));
    }
    Ok(())
}

/// Prints the end of a job that was shown before: its id and state, why it is in this state, and its pull request.
fn show_end(body: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        print_json(&body.to_string());
        return Ok(());
    }
    let job: ShownJob = parsed(body)?;
    print_state(&job);
    print_pull_request(&job);
    Ok(())
}

fn print_state(job: &ShownJob) {
    let published = if job.published_directly { ", published directly" } else { "" };
    print_line(&in_one_line(&format!("{}  {}{published}", job.id, job.state)));
    if let Some(reason) = &job.reason {
        print_line(reason);
    }
    resolve::advise(job);
}

fn print_pull_request(job: &ShownJob) {
    if let Some(pull_request) = &job.pull_request {
        let earlier = if job.pull_request_is_earlier { "  (earlier)" } else { "" };
        print_line(&in_one_line(&format!("{}{earlier}", pull_request.url)));
    }
}

/// The given text, or for `-` the standard input.
pub(super) fn text(given: String) -> anyhow::Result<String> {
    if given != "-" {
        return Ok(given);
    }
    read(std::io::stdin(), "reading the prompt")
}

/// A whole text. `what` stands before an error, also before that of a text beyond the limit.
pub(super) fn read(from: impl Read, what: &'static str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(TEXT_MAX_BYTES as u64 + 1).read_to_end(&mut bytes).context(what)?;
    ensure!(bytes.len() <= TEXT_MAX_BYTES, "{what}: there is more than {TEXT_MAX_MIB} MiB");
    String::from_utf8(bytes).map_err(|_| anyhow!("{what}: the bytes are not UTF-8"))
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("“{text}” is not NAME=VALUE"))?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    fn job(fields: Value) -> ShownJob {
        let mut job = json!({"id": "1"});
        job.as_object_mut().expect("an object").append(&mut fields.as_object().cloned().expect("an object"));
        serde_json::from_value(job).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn exit_code_depends_on_the_state_of_the_job() {
        for (fields, code) in [
            (json!({"state": "completed"}), 0),
            (json!({"state": "archived"}), 0),
            (json!({"state": "archived", "earlier_outcome": "completed"}), 0),
            (json!({"state": "archived", "earlier_outcome": "failed"}), 3),
            (json!({"state": "queued"}), 0),
            (json!({"state": "failed"}), 3),
            (json!({"state": "rejected"}), 3),
            (json!({"state": "cancelled"}), 3),
            (json!({"state": "unknown"}), 4),
            (json!({"state": "other", "ended": false}), 0),
            (json!({"state": "other", "ended": true}), 4),
            (json!({"state": "other"}), 0),
        ] {
            assert_eq!(Outcome::of(&job(fields.clone())).exit_code(), code, "{fields}");
        }
        assert_eq!(Outcome::TimedOut.exit_code(), 5);
    }

    /// Each state of this follow-up, of a colleague's and of the job.
    #[test]
    fn outcome_of_a_follow_up_depends_on_no_other_one() {
        let waiting = |wait| Waiting { wait, timeout: Duration::from_secs(1) };
        for state in DeliveryState::VARIANTS {
            for other in DeliveryState::VARIANTS {
                for (of_job, ended, code) in
                    [("active", false, 0), ("completed", true, 0), ("failed", true, 3)]
                {
                    let job = job(json!({
                        "state": of_job, "ended": ended,
                        "follow_ups": [{"id": "mine", "state": state}, {"id": "theirs", "state": other}],
                    }));
                    let (waits, waits_not) = (waiting(true), waiting(false));
                    let shown = |waiting| Shown {
                        project: "docs",
                        of: Subject::FollowUp(Some("mine".to_owned())),
                        until: None,
                        waiting,
                        as_json: false,
                    };
                    let outcome = |waiting| shown(waiting).outcome(&job).exit_code();
                    let (at_once, at_the_end, is_over) = match state {
                        DeliveryState::Queued | DeliveryState::Sending => (0, code, false),
                        DeliveryState::Accepted => (0, code, ended),
                        DeliveryState::Rejected | DeliveryState::Cancelled => (3, 3, true),
                        DeliveryState::Unknown => (4, 4, true),
                    };
                    let name = format!("{state:?} {other:?} {of_job}");
                    assert_eq!((outcome(&waits_not), outcome(&waits)), (at_once, at_the_end), "{name}");
                    assert_eq!(shown(&waits).has_ended(&job), is_over, "{name}");
                }
            }
        }
    }

    #[test]
    fn follow_up_of_an_earlier_server_is_the_last_one() {
        let waiting = Waiting { wait: false, timeout: Duration::ZERO };
        let of = Subject::FollowUp(None);
        let shown = Shown { project: "docs", of, waiting: &waiting, until: None, as_json: false };
        for (fields, code) in [
            (json!({"state": "active", "follow_ups": [{"state": "rejected"}, {"state": "accepted"}]}), 0),
            (json!({"state": "active", "follow_ups": [{"state": "accepted"}, {"state": "unknown"}]}), 4),
            (json!({"state": "active", "follow_up_state": "rejected"}), 3),
        ] {
            assert_eq!(shown.outcome(&job(fields.clone())).exit_code(), code, "{fields}");
        }
    }

    /// Each state, as the server sends it with and without the scope `jobs:read`, and as one of an earlier version does.
    #[test]
    fn line_of_a_follow_up_has_its_state_and_reason() {
        let waiting = Waiting { wait: true, timeout: Duration::ZERO };
        let mine = Some("mine".to_owned());
        let reason = "Refused:\nno.";
        for state in DeliveryState::VARIANTS.iter().map(|state| state.as_str()) {
            let theirs = json!({"id": "theirs", "state": "accepted", "reason": "not this one"});
            let follow_up = json!({"id": "mine", "state": state, "reason": reason});
            let whole = json!({"state": "completed", "follow_ups": [follow_up, theirs]});
            let short = json!({"state": "completed", "follow_up_id": "mine", "follow_up_state": state});
            let earlier =
                json!({"state": "completed", "follow_ups": [theirs, {"state": state, "reason": reason}]});
            for (of, fields, expected) in [
                (&mine, &whole, format!("follow-up mine  {state}: {reason}")),
                (&mine, &short, format!("follow-up mine  {state}")),
                (&None, &earlier, format!("follow-up  {state}: {reason}")),
            ] {
                let of = Subject::FollowUp(of.clone());
                let shown = Shown { project: "docs", of, waiting: &waiting, until: None, as_json: false };
                assert_eq!(shown.line_of_follow_up(&job(fields.clone())), Some(expected), "{fields}");
                let shown = Shown { of: Subject::Job, ..shown };
                assert_eq!(shown.line_of_follow_up(&job(fields.clone())), None, "{fields}");
            }
        }
    }

    #[test]
    fn text_is_read_as_a_whole_or_not_at_all() {
        let whole = "\u{20ac}".repeat(TEXT_MAX_BYTES / 3) + "x";
        assert_eq!(whole.len(), TEXT_MAX_BYTES);
        assert_eq!(read(whole.as_bytes(), "reading").expect("a text"), whole);
        for (bytes, expected) in [
            ((whole + "x").as_bytes(), "reading: there is more than 1 MiB"),
            ("\u{20ac}".repeat(TEXT_MAX_BYTES / 3 + 1).as_bytes(), "reading: there is more than 1 MiB"),
            (&b"\xff"[..], "reading: the bytes are not UTF-8"),
        ] {
            assert_eq!(read(bytes, "reading").expect_err("no text").to_string(), expected);
        }
    }

    #[test]
    fn placeholder_value_may_contain_an_equals_sign() {
        assert_eq!(name_and_value("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(name_and_value("a").is_err());
    }
}
