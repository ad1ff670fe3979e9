//! What only a browser can do, and what stands in for it on the server. Nothing else in `ui` is compiled conditionally,
//! except the status of an answer (`response`).

#[cfg(not(feature = "hydrate"))]
mod absent;
#[cfg(feature = "hydrate")]
mod present;

#[cfg(not(feature = "hydrate"))]
pub use absent::*;
#[cfg(feature = "hydrate")]
pub use present::*;
