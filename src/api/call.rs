//! How pages call server functions. Each answer stays the JSON text it came as until somebody reads it, so that
//! everything between is compiled once, not once per server function: that keeps the WebAssembly small.

#[cfg(feature = "hydrate")]
mod fetch;
pub mod json;

use std::marker::PhantomData;
use std::pin::Pin;

use leptos::server_fn::ServerFn;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::AppError;

#[cfg(feature = "hydrate")]
pub use fetch::{Reply, post};

/// What a server function answered: its output as JSON, or why there is none.
pub type Answer = Result<String, AppError>;

/// An answer that is being waited for; nothing is sent before that.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A call of a server function whose output is a `T`.
pub struct Call<T> {
    answering: Answering,
    output: PhantomData<fn() -> T>,
}

/// Calls `function`: over HTTP from the browser, directly on the server.
pub fn call<F>(function: F) -> Call<F::Output>
where
    F: ServerFn<Error = AppError> + Serialize + 'static,
    F::Output: Serialize,
{
    Call { answering: answering(function), output: PhantomData }
}

/// The output in `answer`.
pub fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, AppError> {
    match answer {
        Ok(json) => json::from_str(json).map_err(|_| AppError::internal()),
        Err(error) => Err(error.clone()),
    }
}

impl<T> Call<T> {
    pub async fn output(self) -> Result<T, AppError>
    where
        T: DeserializeOwned,
    {
        read(&self.answering.await)
    }

    pub fn into_answer(self) -> Answering {
        self.answering
    }
}

#[cfg(feature = "hydrate")]
fn answering<F: ServerFn + Serialize>(function: F) -> Answering {
    let fields = serde_qs::to_string(&function).unwrap_or_default();
    Box::pin(send_wrapper::SendWrapper::new(async move { post(F::PATH, &fields).await.answer }))
}

#[cfg(not(feature = "hydrate"))]
fn answering<F>(function: F) -> Answering
where
    F: ServerFn<Error = AppError> + 'static,
    F::Output: Serialize,
{
    Box::pin(async move {
        let output = function.run_body().await?;
        serde_json::to_string(&output).map_err(|_| AppError::internal())
    })
}
