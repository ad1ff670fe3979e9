//! Charts: arithmetic in integers (pure, tested) and the SVG that shows it.
//! Must not use `style` attributes, which the content security policy forbids.

pub mod bar;
pub mod columns;
pub mod events;
pub mod number;
pub mod scale;
pub mod summary;
pub mod ticks;
