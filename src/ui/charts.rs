//! Charts: integer arithmetic (pure, tested) and SVG. Must not use `style` attributes, which the
//! Content-Security-Policy forbids.

pub mod bar;
pub mod columns;
pub mod events;
pub mod number;
pub mod previous;
pub mod scale;
pub mod summary;
pub mod ticks;
