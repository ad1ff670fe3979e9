//! The arguments of the tools, and their JSON Schemas. Each optional argument may be null: many clients send all arguments.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::handler::server::common::schema_for_input;
use rmcp::model::JsonObject;
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::http::v1::input::object;
use crate::http::v1::values::{
    CursorText, Offset, ReadersChoice, RowLimit, Status, TemplateName, ToolLimit, ToolSeconds, Words,
    WrittenPage,
};
use model::day::Day;
use model::id::IntentId;

/// The schema of the arguments of a tool.
pub(super) fn schema<T: JsonSchema + Any>() -> Result<Arc<JsonObject>, String> {
    let mut schema = schema_for_input::<T>()?.as_ref().clone();
    remove_formats_of_integers(&mut schema);
    // Some clients require it of a tool without arguments, too.
    schema.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    Ok(Arc::new(schema))
}

/// They are names of Rust's types, such as `uint32`, which validators do not know.
fn remove_formats_of_integers(schema: &mut JsonObject) {
    schema
        .retain(|key, value| key != "format" || !value.as_str().is_some_and(|format| format.contains("int")));
    schema.values_mut().for_each(remove_formats_in);
}

fn remove_formats_in(value: &mut Value) {
    match value {
        Value::Object(schema) => remove_formats_of_integers(schema),
        Value::Array(values) => values.iter_mut().for_each(remove_formats_in),
        _ => {}
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ListJobsInput {
    /// The id of the project.
    pub(super) project: String,
    /// A state, or no-changes: completed without changes.
    pub(super) status: Option<Status>,
    /// Words in prompts and names.
    pub(super) q: Option<Words>,
    /// How many jobs.
    pub(super) limit: Option<ToolLimit>,
    /// `next_cursor` of the page before.
    pub(super) cursor: Option<CursorText>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct GetJobInput {
    /// The id of the project.
    pub(super) project: String,
    /// The id of the job.
    pub(super) job: String,
    /// How many seconds to wait for the end of the job.
    pub(super) wait: Option<ToolSeconds>,
    /// Only the follow-ups before this number: `earlier_follow_ups` of a result, plus 1.
    pub(super) follow_ups_before: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct StartJobInput {
    /// The id of the project.
    pub(super) project: String,
    /// What the documentation agent should do. Without it, the text of the template is the prompt.
    pub(super) prompt: Option<String>,
    /// A template of list_templates, which is filled in.
    #[serde(default, deserialize_with = "object")]
    #[schemars(with = "Option<TemplateInput>")]
    pub(super) template: Option<TemplateInput>,
    /// The paths of the pages it is about.
    pub(super) pages: Option<Vec<WrittenPage>>,
    /// The id of the job that this one runs again. It ended without a pull request, and is resolved if this one opens one.
    pub(super) retry_of: Option<String>,
    /// 1 to 64 letters, digits, - or _; the same in each retry.
    #[schemars(with = "String", regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub(super) idempotency_key: IntentId,
    /// Whether the prompt is queued if it cannot be sent at once, because the hourly budget is spent, requests are paused or there are no AI credits.
    /// Otherwise it is refused, or rejected, and nothing is sent later.
    pub(super) queue: Option<bool>,
}

/// The template of a job: its id or its name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars", inline)]
pub(super) struct TemplateInput {
    pub(super) id: Option<String>,
    pub(super) name: Option<TemplateName>,
    /// The values of its placeholders, by name.
    pub(super) values: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct CancelJobInput {
    /// The id of the project.
    pub(super) project: String,
    /// The id of the job.
    pub(super) job: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct ListTemplatesInput {
    /// The id of the project.
    pub(super) project: String,
}

/// Of a tool without arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct NoInput {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct SendFollowUpInput {
    /// The id of the project.
    pub(super) project: String,
    /// The id of the job.
    pub(super) job: String,
    pub(super) prompt: String,
    /// 1 to 64 letters, digits, - or _; the same in each retry.
    #[schemars(with = "String", regex(pattern = "^[A-Za-z0-9_-]{1,64}$"))]
    pub(super) idempotency_key: IntentId,
    /// Whether the prompt is queued if it cannot be sent at once, because the hourly budget is spent, requests are paused or there are no AI credits.
    /// Otherwise it is refused, or rejected, and nothing is sent later.
    pub(super) queue: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct PageViewsInput {
    /// The id of the project.
    pub(super) project: String,
    /// The first day (UTC), as 2026-11-01; by default 27 days before `to`. A range has at most 1,100 days.
    #[schemars(with = "Option<String>")]
    pub(super) from: Option<Day>,
    /// The last day (UTC, inclusive); by default today.
    #[schemars(with = "Option<String>")]
    pub(super) to: Option<Day>,
    /// A part of the path.
    pub(super) q: Option<Words>,
    /// How many pages.
    pub(super) limit: Option<RowLimit>,
    /// The number of pages to skip.
    pub(super) offset: Option<Offset>,
    /// `next_cursor` of the result before, with its `from` and `to`, and without `offset`. If the figures changed since, start again without it.
    pub(super) cursor: Option<CursorText>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct FallingPagesInput {
    /// The id of the project.
    pub(super) project: String,
    /// The first day (UTC), as 2026-11-01; by default 27 days before `to`. A range has at most 1,100 days.
    #[schemars(with = "Option<String>")]
    pub(super) from: Option<Day>,
    /// The last day (UTC, inclusive); by default today.
    #[schemars(with = "Option<String>")]
    pub(super) to: Option<Day>,
    /// Whose views must have fallen; by default those of all.
    pub(super) readers: Option<ReadersChoice>,
}
