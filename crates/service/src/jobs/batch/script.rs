//! Batches of scripts: prepared and started at once, once for each idempotency key. Whatever can fail comes before the transaction that stores the batch.

use serde_json::{Value, json};

use super::BatchError;
use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::replay::{digest, not_looked_up, stored_values, used};
use base::nfc::stored_text;
use model::batch::{self, BatchPrompt, Item, ItemError, Items, ListError};
use model::error::{AppError, ErrorCode};
use model::id::{BatchId, IntentId, InvalidId, ProjectId};
use model::unfilled::warning;
use store::StoreError;
use store::jobs::batches::{PreparedBatch, ScriptedBatch, new_batch_id};

/// What a script sent.
#[derive(Clone, Copy)]
pub struct ScriptBatch<'a> {
    pub project: &'a ProjectId,
    pub prompt: Option<&'a str>,
    pub template: Option<TemplateOfScript<'a>>,
    pub values: &'a [Item],
}

/// The template of a batch: its id or its name.
#[derive(Clone, Copy)]
pub struct TemplateOfScript<'a> {
    pub id: Option<&'a str>,
    pub name: Option<&'a str>,
}

/// A batch that a script started.
#[derive(Debug)]
pub struct SubmittedBatch {
    pub id: BatchId,
    /// The number of its items; 0 if it is not known.
    pub jobs: usize,
    /// Whether an earlier request with the same key started it: this one started nothing.
    pub is_replay: bool,
}

/// Why a batch is refused.
#[derive(Debug)]
pub struct RefusedBatch {
    pub error: AppError,
    /// The part of the request that is not valid.
    pub field: Option<String>,
}

impl ScriptBatch<'_> {
    /// The hash of all of it. The order of the values matters: it is that of the jobs.
    fn hash(&self) -> String {
        let template = self.template.map(|TemplateOfScript { id, name }| json!([id, name.map(stored_text)]));
        let values: Vec<Value> = self.values.iter().map(as_json).collect();
        digest(&json!([self.project, "batch", self.prompt.map(stored_text), template, values]))
    }

    /// The field that has the text of the prompts.
    fn field_of_text(&self) -> &'static str {
        if self.prompt.is_none() && self.template.is_some() { "template" } else { "prompt" }
    }

    /// The error, with the field that causes it.
    fn refused(&self, error: BatchError, items: &Items) -> RefusedBatch {
        let of_line = |line, rest: String| of_item(ItemError::new(items.index_of(line), rest));
        match error {
            BatchError::List(ListError::Line { number, rest }) => of_line(number, rest),
            BatchError::Line { line, error } => of_line(line, format!(": {error}")),
            error @ (BatchError::Text(_) | BatchError::List(ListError::NoPlaceholder)) => {
                RefusedBatch { field: Some(self.field_of_text().to_owned()), error: error.into() }
            }
            error => RefusedBatch { field: Some("values".to_owned()), error: error.into() },
        }
    }
}

fn as_json(item: &Item) -> Value {
    match item {
        Item::Line(line) => json!(stored_text(line)),
        Item::Values(values) => json!(stored_values(values)),
    }
}

fn stored(item: &Item) -> Item {
    match item {
        Item::Line(line) => Item::Line(stored_text(line)),
        Item::Values(values) => Item::Values(stored_values(values)),
    }
}

fn of_item(error: ItemError) -> RefusedBatch {
    RefusedBatch { field: Some(format!("values[{}]", error.index)), error: AppError::bad_input(error) }
}

impl From<AppError> for RefusedBatch {
    fn from(error: AppError) -> Self {
        Self { error, field: None }
    }
}

impl From<StoreError> for RefusedBatch {
    fn from(error: StoreError) -> Self {
        AppError::from(error).into()
    }
}

impl From<InvalidId> for RefusedBatch {
    fn from(error: InvalidId) -> Self {
        AppError::from(error).into()
    }
}

impl Jobs {
    /// The batch of an earlier request of this author with the same key; `None` if there was none.
    ///
    /// # Errors
    /// If the key belongs to another request.
    pub async fn first_batch(
        &self,
        author_id: &str,
        key: &IntentId,
        request: &ScriptBatch<'_>,
    ) -> Result<Option<SubmittedBatch>, AppError> {
        let Some(earlier) = self.store.batch_of_key(author_id, key).await.map_err(not_looked_up)? else {
            return match self.store.is_removed_batch(author_id, key).await.map_err(not_looked_up)? {
                true => Err(removed()),
                false => Ok(None),
            };
        };
        match earlier.body_hash == Some(request.hash()) {
            true => Ok(Some(SubmittedBatch { id: earlier.id, jobs: 0, is_replay: true })),
            false => Err(used()),
        }
    }

    /// Starts a batch of which [`Self::first_batch`] found none: all its prompts are queued, or none. `prompt`: the text with the placeholders, and the
    /// template that it comes from.
    pub async fn start_scripted_batch(
        &self,
        caller: &Caller,
        key: &IntentId,
        request: &ScriptBatch<'_>,
        prompt: BatchPrompt,
    ) -> Result<SubmittedBatch, RefusedBatch> {
        let text = stored_text(&prompt.text);
        let values: Vec<Item> = request.values.iter().map(stored).collect();
        let items = Items::of(&text, &values).map_err(of_item)?;
        let lines = self.lines(request.project, &text, &items.list).await;
        let lines = lines.map_err(|error| request.refused(error, &items))?;
        if prompt.template.is_some() {
            must_be_filled_in(&text, &items.list)?;
        }
        let now = self.clock.now();
        let batch = PreparedBatch {
            id: new_batch_id()?,
            project: request.project.clone(),
            name: None,
            author: caller.user.name.clone(),
            template: text,
            template_id: prompt.template,
            list: items.list,
            created_at: now,
            started_at: Some(now),
        };
        let prompts = lines.into_iter().map(|line| line.of_batch(&batch)).collect::<Result<_, _>>()?;
        let prompts = self.all_with_mentioned_pages(request.project, prompts).await?;
        let (author_id, body_hash) = (&caller.user.id, &request.hash());
        let new = ScriptedBatch { batch: &batch, author_id, key, body_hash, prompts: &prompts };
        match self.commit_batch(caller, &new).await? {
            true => Ok(SubmittedBatch { id: batch.id, jobs: prompts.len(), is_replay: false }),
            // The same request arrived twice at once.
            false => {
                let other = self.first_batch(author_id, key, request).await?;
                other.ok_or_else(|| AppError::internal().into())
            }
        }
    }

    /// Whether it is committed now; `false` if the key was used before. If the reply to the commit was lost, a read decides.
    async fn commit_batch(&self, caller: &Caller, new: &ScriptedBatch<'_>) -> Result<bool, StoreError> {
        match self.store.start_scripted_batch(caller.authority(), new, self.queue_max()).await {
            Err(error) if error.has_unknown_end() => {
                match self.store.batch_of_key(new.author_id, new.key).await.ok().flatten() {
                    Some(known) => Ok(known.id == new.batch.id),
                    None => Err(error),
                }
            }
            committed => committed,
        }
    }
}

/// As for a job that is started from a template.
fn must_be_filled_in(text: &str, list: &str) -> Result<(), RefusedBatch> {
    let unfilled = batch::unfilled(text, list);
    let unfilled: Vec<&str> = unfilled.iter().map(String::as_str).collect();
    match warning(&unfilled) {
        Some(warning) => Err(RefusedBatch {
            error: AppError::new(ErrorCode::UnfilledPlaceholder, warning),
            field: Some("values".to_owned()),
        }),
        None => Ok(()),
    }
}

fn removed() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This idempotency key was used long ago, and its batch has been removed since. Start the batch with a new key.",
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn hash_depends_on_everything_that_was_sent() {
        let (docs, api): (ProjectId, ProjectId) =
            ("docs".parse().expect("an id"), "api".parse().expect("an id"));
        let line = |text: &str| Item::Line(text.to_owned());
        let values = |value: &str| Item::Values(BTreeMap::from([("page".to_owned(), value.to_owned())]));
        let lists = [
            vec![line("/a"), line("/é")],
            vec![line("/é"), line("/a")],
            vec![line("/a")],
            vec![values("/a"), values("/é")],
            vec![values("/a"), line("/é")],
            vec![],
        ];
        let template = |id, name| Some(TemplateOfScript { id, name });
        let templates =
            [None, template(Some("1"), None), template(None, Some("1")), template(Some("2"), None)];
        let mut requests = Vec::new();
        for project in [&docs, &api] {
            for prompt in [None, Some("Check {{page}}"), Some("Fix {{page}}")] {
                for template in templates {
                    requests.extend(lists.iter().map(|values| ScriptBatch {
                        project,
                        prompt,
                        template,
                        values,
                    }));
                }
            }
        }
        let hashes: BTreeSet<String> = requests.iter().map(ScriptBatch::hash).collect();
        assert_eq!(hashes.len(), requests.len());
        let decomposed = [line("/a"), line("/e\u{301}")];
        let same = ScriptBatch { values: &decomposed, ..requests[0] };
        assert_eq!(same.hash(), requests[0].hash());
    }
}
