//! What people see. Must not know `server`.

pub mod charts;
pub mod components;
pub mod erase;
pub mod links;
pub mod markup;
pub mod pages;
pub mod state;
