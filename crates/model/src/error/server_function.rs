//! [`AppError`] as the error of Leptos's server functions.

use server_fn::codec::JsonEncoding;
use server_fn::error::{FromServerFnError, ServerFnErrorErr};

use super::AppError;

impl FromServerFnError for AppError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::Deserialization(_) => {
                Self::bad_input("A field is missing or has the wrong type.")
            }
            ServerFnErrorErr::Request(_) => Self::unreachable(),
            _ => Self::internal(),
        }
    }
}
