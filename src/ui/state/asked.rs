//! What a page has asked the server for: a resource of one type, whatever is asked. Every resource type would cost the
//! WebAssembly several kilobytes.

use std::marker::PhantomData;
use std::sync::Arc;

use codee::{Decoder, Encoder};
use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::api::call::{Answer, Answering, Call, json, read};
use crate::error::AppError;

/// A question to the server and its last answer, which holds a `T`.
pub struct Asked<T> {
    resource: Resource<Answer, Verbatim>,
    output: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + 'static> Asked<T> {
    /// Asks once, and again on [`Asked::again`].
    pub fn once(question: impl Fn() -> Call<T> + Send + Sync + 'static) -> Self {
        Self::on(|| (), question)
    }

    /// Asks, and asks again whenever something that `on` reads has changed. A memo must be read, not only tracked: one
    /// that was never read counts as changed when the page becomes interactive, and all would be asked twice.
    pub fn on(
        on: impl Fn() + Send + Sync + 'static,
        question: impl Fn() -> Call<T> + Send + Sync + 'static,
    ) -> Self {
        let resource = resource(Arc::new(on), Arc::new(move || question().into_answer()));
        Self { resource, output: PhantomData }
    }

    /// The last answer. To be read inside a Suspense or an Effect.
    pub fn get(self) -> Option<Result<T, AppError>> {
        self.resource.with(|answer| answer.as_ref().map(read))
    }

    pub fn again(self) {
        self.resource.refetch();
    }

    /// For whoever shows a failure.
    pub fn retry(self) -> Callback<()> {
        let resource = self.resource;
        Callback::new(move |()| resource.refetch())
    }
}

impl<T> Clone for Asked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Asked<T> {}

fn resource(
    on: Arc<dyn Fn() + Send + Sync>,
    question: Arc<dyn Fn() -> Answering + Send + Sync>,
) -> Resource<Answer, Verbatim> {
    let source = move || {
        on();
        Changed
    };
    Resource::new_with_options(source, move |Changed| question(), false)
}

/// Unequal to itself: each run of the source is a reason to ask.
#[derive(Clone)]
struct Changed;

impl PartialEq for Changed {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

/// Takes an answer from the server into the page as it is; an error behind a mark that no JSON begins with.
pub(super) struct Verbatim;

const ERROR: char = '!';

impl Encoder<Answer> for Verbatim {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(answer: &Answer) -> Result<String, serde_json::Error> {
        match answer {
            Ok(json) => Ok(json.clone()),
            Err(error) => Ok(format!("{ERROR}{}", serde_json::to_string(error)?)),
        }
    }
}

impl Decoder<Answer> for Verbatim {
    type Error = json::Unreadable;
    type Encoded = str;

    fn decode(text: &str) -> Result<Answer, json::Unreadable> {
        Ok(match text.strip_prefix(ERROR) {
            None => Ok(text.to_owned()),
            Some(error) => Err(json::from_str(error)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_errors_survive_the_way_into_the_page() {
        for answer in [Ok("{\"a\":1}".to_owned()), Ok("null".to_owned()), Err(AppError::not_found("!"))] {
            let text = Verbatim::encode(&answer).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(Verbatim::decode(&text).ok(), Some(answer));
        }
    }
}
