//! Futures whose code is compiled once.

use futures::future::BoxFuture;

/// The future of a function that is compiled in its own crate only. An async function is compiled again in each crate that awaits it, directly or
/// through other async functions. So the large ones that many paths lead to return this type.
pub type Boxed<'a, T, E> = BoxFuture<'a, Result<T, E>>;
