//! A layer that makes clones of the services inside it cheap. Each middleware clones everything inside it for each request, so
//! a request that waits for its body would have copies of all inner layers.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use tower::util::Oneshot;
use tower::{Layer, Service, ServiceExt};

#[derive(Clone, Copy)]
pub(super) struct Share;

pub(super) struct Shared<S>(Arc<S>);

impl<S> Layer<S> for Share {
    type Service = Shared<S>;

    fn layer(&self, inner: S) -> Shared<S> {
        Shared(Arc::new(inner))
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Service<Request> for Shared<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Oneshot<S, Request>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        S::clone(&self.0).oneshot(request)
    }
}
