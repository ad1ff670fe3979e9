//! Puts the text of a template into the form for a batch.

use super::{BatchError, BatchRequest, draft_key};
use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::templates::missing;
use model::batch::BatchPrompt;
use model::error::AppError;
use model::id::TemplateId;
use model::template::inserted;
use store::jobs::drafts::{Draft, Replaces};

impl Jobs {
    /// The prompt of the form with the text of the template `chosen`. Without one, the prompt stays, without a template.
    pub async fn use_template(
        &self,
        request: &BatchRequest,
        chosen: Option<TemplateId>,
    ) -> Result<BatchPrompt, AppError> {
        let written = request.text.replace("\r\n", "\n");
        if written.contains('\0') || request.values.contains('\0') {
            return Err(BatchError::Nul.into());
        }
        let Some(chosen) = chosen else {
            return Ok(BatchPrompt { text: written, template: None });
        };
        let text = self.template_text(request, &chosen).await?.ok_or_else(missing)?;
        let replaced = match &request.template {
            Some(id) => self.template_text(request, id).await?.unwrap_or_default(),
            None => String::new(),
        };
        Ok(BatchPrompt { text: inserted(&written, &replaced, &text), template: Some(chosen) })
    }

    /// Saves the form with this prompt as the caller's draft.
    pub async fn save_batch_form(
        &self,
        caller: &Caller,
        request: &BatchRequest,
        prompt: BatchPrompt,
    ) -> Result<(), AppError> {
        let template = prompt.template.map(String::from).unwrap_or_default();
        let (text, paths) = (prompt.text, request.values.clone());
        let draft = Draft { text, paths, template, ..Draft::default() };
        let of = draft_key(caller, &request.project);
        self.store.save_draft(caller.authority(), of, &draft, None, Replaces::Any).await?;
        Ok(())
    }

    async fn template_text(
        &self,
        request: &BatchRequest,
        id: &TemplateId,
    ) -> Result<Option<String>, AppError> {
        Ok(self.store.template(&request.project, id).await?.map(|(_, text)| text))
    }
}
