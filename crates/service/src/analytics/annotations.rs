//! The team's notes on days: validation and permissions.

use std::str::FromStr;

use crate::caller::Caller;
use model::ParseError;
use model::analytics::trend::Annotation;
use model::day::Day;
use model::error::{AppError, ErrorCode};
use model::id::{AnnotationId, ProjectId};
use model::user::Role;
use store::Store;

const TEXT_MAX_CHARS: usize = 280;

/// One line without invisible characters.
pub struct NoteText(String);

impl FromStr for NoteText {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        let text = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match text.chars().count() {
            0 => Err("The note is empty. Write a few words.".into()),
            1..=TEXT_MAX_CHARS => Ok(Self(text)),
            _ => Err(format!("A note has at most {TEXT_MAX_CHARS} characters.").into()),
        }
    }
}

/// The notes of a team on days.
#[derive(Clone)]
pub struct Annotations {
    store: Store,
}

impl Annotations {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Adds a note, or changes the one with this id.
    pub async fn save(
        &self,
        caller: &Caller,
        project: &ProjectId,
        day: Day,
        NoteText(text): NoteText,
        id: Option<AnnotationId>,
    ) -> Result<Annotation, AppError> {
        let store = &self.store;
        match id {
            None => {
                let id = store.add_annotation(caller.authority(), project, day, &text).await?;
                Ok(Annotation { id, day, text, author: caller.user.name.clone() })
            }
            Some(id) => {
                let annotation = self.may_change(caller, project, &id).await?;
                store.change_annotation(caller.authority(), project, id.as_str(), day, &text).await?;
                Ok(Annotation { day, text, ..annotation })
            }
        }
    }

    pub async fn remove(
        &self,
        caller: &Caller,
        project: &ProjectId,
        id: &AnnotationId,
    ) -> Result<(), AppError> {
        let note = self.may_change(caller, project, id).await?;
        Ok(self.store.remove_annotation(caller.authority(), project, &note).await?)
    }

    /// The note, if the caller wrote it or is an administrator.
    async fn may_change(
        &self,
        caller: &Caller,
        project: &ProjectId,
        id: &AnnotationId,
    ) -> Result<Annotation, AppError> {
        let found = self.store.annotation(project, id.as_str()).await?;
        let missing = || AppError::not_found("This note no longer exists.");
        let (annotation, author_id) = found.ok_or_else(missing)?;
        if author_id != caller.user.id && caller.user.role < Role::Admin {
            return Err(AppError::new(
                ErrorCode::Forbidden,
                format!(
                    "This note belongs to {}. Only its author or an administrator can change it.",
                    annotation.author
                ),
            ));
        }
        Ok(annotation)
    }
}
