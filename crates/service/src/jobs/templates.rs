//! Validating, saving, changing and deleting templates.

use std::collections::BTreeMap;
use std::str::FromStr;

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use base::nfc::{nfc, stored_text};
use base::query_permits::QueryPermit;
use model::error::{AppError, BadInput, ErrorCode};
use model::id::{ProjectId, TemplateId};
use model::name::is_plain;
use model::saved_template::{
    NAME_MAX_CHARS, RESERVED_PLACEHOLDERS, SavedTemplate, TemplateForm, TemplateText,
};
use model::template::{filled, placeholders};
use model::unfilled::{unfilled, warning};
use store::jobs::drafts::{Draft, DraftKey, Replaces};

/// The maximum number of templates per project.
const TEMPLATES_MAX: u32 = 100;
/// The maximum number of placeholders per template.
const PLACEHOLDERS_MAX: usize = 20;

/// The form of a template as it was typed.
pub struct TypedTemplate {
    /// `None` for a new one.
    pub template: Option<TemplateId>,
    pub name: String,
    pub text: String,
}

/// The name of a template: 1 to 80 visible characters, in NFC.
#[derive(Debug, PartialEq, Eq)]
pub struct TemplateName(String);

/// The text of a template: not empty, normalized, not longer than the limit when it was parsed, and with a limited number of valid placeholders.
#[derive(Debug, PartialEq, Eq)]
pub struct PromptTemplate(String);

impl FromStr for TemplateName {
    type Err = TemplateError;

    fn from_str(name: &str) -> Result<Self, TemplateError> {
        let name = nfc(name);
        let name = name.trim();
        if !(1..=NAME_MAX_CHARS).contains(&name.chars().count()) || !is_plain(name) {
            return Err(TemplateError::Name);
        }
        Ok(Self(name.to_owned()))
    }
}

impl PromptTemplate {
    /// Parses a text as typed, of at most `most` characters.
    pub fn parse(text: &str, most: u32) -> Result<Self, TemplateError> {
        let text = stored_text(text);
        let length = text.chars().count();
        if text.trim().is_empty() || text.contains('\0') || length > most as usize {
            return Err(TemplateError::Text { length, most });
        }
        let placeholders = placeholders(&text);
        if placeholders.len() > PLACEHOLDERS_MAX {
            return Err(TemplateError::TooManyPlaceholders);
        }
        if let Some(reserved) =
            placeholders.iter().find(|placeholder| RESERVED_PLACEHOLDERS.contains(placeholder))
        {
            return Err(TemplateError::Reserved((*reserved).to_owned()));
        }
        Ok(Self(text))
    }
}

impl Jobs {
    pub async fn templates(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
    ) -> Result<Vec<SavedTemplate>, AppError> {
        Ok(self.store.templates(permit, project).await?)
    }

    pub async fn template_texts(&self, project: &ProjectId) -> Result<Vec<TemplateText>, AppError> {
        Ok(self.store.template_texts(project).await?)
    }

    /// The ids of the project's templates, by name.
    pub async fn template_ids(&self, project: &ProjectId) -> Result<Vec<TemplateId>, AppError> {
        Ok(self.store.template_ids(project).await?)
    }

    /// A template; `None` if it was deleted.
    pub async fn template(
        &self,
        project: &ProjectId,
        id: &TemplateId,
    ) -> Result<Option<TemplateText>, AppError> {
        let found = self.store.template(project, id).await?;
        Ok(found.map(|(name, text)| TemplateText { id: id.clone(), name, text }))
    }

    /// As [`Self::template`], of a template that must exist.
    pub async fn existing_template(
        &self,
        project: &ProjectId,
        id: &TemplateId,
    ) -> Result<TemplateText, AppError> {
        self.template(project, id).await?.ok_or_else(missing)
    }

    /// The initial values of the template form. A draft takes precedence over the saved text.
    pub async fn template_form(
        &self,
        caller: &Caller,
        project: &ProjectId,
        id: Option<TemplateId>,
    ) -> Result<TemplateForm, AppError> {
        let saved = match &id {
            Some(id) => Some(self.store.template(project, id).await?.ok_or_else(missing)?),
            None => None,
        };
        let (name, text) = saved.unwrap_or_default();
        let saved_draft = self.store.draft(draft_key(caller, project, &subject(id.as_ref()))).await?;
        let (name, text) = match saved_draft {
            Some(saved_draft) => (saved_draft.paths, saved_draft.text),
            None => (name, text),
        };
        Ok(TemplateForm { id, name, text, text_max: self.prompt_max() })
    }

    /// Saves what was parsed from a form, as a new template or a changed one. One that cannot be saved becomes a draft, as it was typed.
    pub async fn save_template(
        &self,
        caller: &Caller,
        project: &ProjectId,
        typed: TypedTemplate,
        parsed: Result<(TemplateName, PromptTemplate), TemplateError>,
    ) -> Result<TemplateId, AppError> {
        let TypedTemplate { template, name, text } = typed;
        let subject = subject(template.as_ref());
        let of = draft_key(caller, project, &subject);
        let outcome = match parsed {
            Ok((name, text)) => self.write_template(caller, project, template, &name, &text).await,
            Err(error) => Err(error.into()),
        };
        let worth_saving = !text.contains('\0') && !name.contains('\0');
        match &outcome {
            Ok(_) => self.store.drop_draft(caller.authority(), of, Replaces::Any, None).await?,
            // Drafts have no name, and templates have no pages: the draft's pages field stores the name. A draft of a
            // missing template could not be opened.
            Err(error) if worth_saving && error.code != ErrorCode::NotFound => {
                let draft = Draft { text, paths: name, ..Draft::default() };
                self.store.save_draft(caller.authority(), of, &draft, None, Replaces::Any).await?;
            }
            Err(_) => {}
        }
        outcome
    }

    async fn write_template(
        &self,
        caller: &Caller,
        project: &ProjectId,
        template: Option<TemplateId>,
        TemplateName(name): &TemplateName,
        PromptTemplate(text): &PromptTemplate,
    ) -> Result<TemplateId, AppError> {
        let by = caller.authority();
        let written = match template {
            None => self.store.add_template(by, project, name, text, TEMPLATES_MAX).await,
            Some(id) => match self.store.change_template(by, project, &id, name, text).await {
                Ok(false) => return Err(missing()),
                changed => changed.map(|_| Some(id)),
            },
        };
        match written {
            Ok(Some(id)) => Ok(id),
            Ok(None) => Err(TemplateError::TooMany.into()),
            Err(error) if error.is_duplicate() => Err(TemplateError::NameTaken.into()),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn remove_template(
        &self,
        caller: &Caller,
        project: &ProjectId,
        template: Option<TemplateId>,
    ) -> Result<(), AppError> {
        let id = template.ok_or_else(missing)?;
        let removed = self.store.remove_template(caller.authority(), project, &id).await?;
        if removed { Ok(()) } else { Err(missing()) }
    }

    /// The prompt of a job from a template: `prompt`, or else the text of the template, with its placeholders filled in.
    ///
    /// # Errors
    /// If a value has no placeholder, or a placeholder has neither a value nor a default.
    pub async fn filled(
        &self,
        project: &ProjectId,
        template: &TemplateId,
        prompt: Option<String>,
        values: &BTreeMap<String, String>,
    ) -> Result<String, AppError> {
        let (_, text) = self.store.template(project, template).await?.ok_or_else(missing)?;
        let text = prompt.unwrap_or(text);
        let names = placeholders(&text);
        if let Some(unknown) = values.keys().find(|name| !names.contains(&name.as_str())) {
            return Err(TemplateError::NoPlaceholder(unknown.clone()).into());
        }
        let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let filled = filled(&text, &values, self.prompt_max() as usize);
        let filled = filled.ok_or(TemplateError::FilledTooLong)?;
        match warning(&unfilled(&filled)) {
            Some(warning) => Err(AppError::new(ErrorCode::UnfilledPlaceholder, warning)),
            None => Ok(filled),
        }
    }

    /// The id of the template with this name.
    pub async fn template_named(&self, project: &ProjectId, name: &str) -> Result<TemplateId, AppError> {
        let found = self.store.template_named(project, nfc(name).trim()).await?;
        found.ok_or_else(|| AppError::not_found("There is no template with that name in this project."))
    }

    pub(super) async fn must_be_a_template(
        &self,
        project: &ProjectId,
        id: &TemplateId,
    ) -> Result<(), AppError> {
        let found = self.store.template(project, id).await?;
        found
            .map(|_| ())
            .ok_or_else(|| AppError::not_found("This template no longer exists. Start the job without it."))
    }
}

/// Why a template, or its values, cannot be used.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("A project has at most {TEMPLATES_MAX} templates. Delete an unused one first.")]
    TooMany,
    #[error("A template with that name already exists in this project. Choose another name.")]
    NameTaken,
    #[error("A template’s name has 1 to {NAME_MAX_CHARS} visible characters.")]
    Name,
    #[error("A template’s text has 1 to {most} characters, and no NUL character; this one has {length}.")]
    Text { length: usize, most: u32 },
    #[error("A template has at most {PLACEHOLDERS_MAX} placeholders.")]
    TooManyPlaceholders,
    #[error("A placeholder cannot be called {0}. Choose another name for it.")]
    Reserved(String),
    #[error("The template has no placeholder “{0}”.")]
    NoPlaceholder(String),
    #[error("The filled-in prompt is too long.")]
    FilledTooLong,
}

impl BadInput for TemplateError {}

pub(super) fn missing() -> AppError {
    AppError::not_found("That template does not exist in this project.")
}

fn subject(id: Option<&TemplateId>) -> String {
    format!("template/{}", id.map(TemplateId::as_str).unwrap_or_default())
}

fn draft_key<'a>(caller: &'a Caller, project: &'a ProjectId, subject: &'a str) -> DraftKey<'a> {
    DraftKey { user_id: &caller.user.id, project, subject }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_name_has_1_to_80_characters() {
        let name = |name: &str| name.parse::<TemplateName>().map(|name| name.0);
        assert_eq!(name("  Check a page ").as_deref(), Ok("Check a page"));
        assert!(name(&"é".repeat(NAME_MAX_CHARS)).is_ok());
        for wrong in ["", "  ", "a\nb", "a\0", &"x".repeat(NAME_MAX_CHARS + 1)] {
            assert!(name(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn template_text_has_a_limited_number_of_valid_placeholders() {
        let text = |text: &str, most| PromptTemplate::parse(text, most).map(|text| text.0);
        assert_eq!(text("Check {{page}}\r\nnow", 100).as_deref(), Ok("Check {{page}}\nnow"));
        assert!(text(" \n", 100).is_err() && text("a\0", 100).is_err() && text("abc", 2).is_err());
        assert!(text("Do {{prompt}}", 100).is_err());
        let many: String = (0..=PLACEHOLDERS_MAX).map(|n| format!("{{{{p{n}}}}}")).collect();
        assert!(text(&many, 1_000).is_err());
    }
}
