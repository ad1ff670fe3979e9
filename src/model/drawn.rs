//! What the server has drawn of page views: HTML of its own templates, and words. Pure. Drawn there, so that no browser fetches
//! the code that draws.

use serde::{Deserialize, Serialize};

/// The parts of a page, as HTML, from top to bottom.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Drawn {
    /// Whether it is what the upstream answers right now, because the daily history does not hold the whole range.
    pub live: bool,
    pub above: String,
    /// Of the trend.
    pub heading: String,
    pub plot: Option<Plot>,
    pub events: String,
    pub below: String,
}

/// A trend.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plot {
    /// The insides of SVGs: the numbers beside the plot, and the plot itself.
    pub scale: String,
    pub picture: String,
    /// HTML of what stands below the plot, and of the table of the same.
    pub below: String,
    pub table: String,
    /// What it shows, in a sentence.
    pub summary: String,
    /// What is said of each point, from left to right; its days end at the first `: `.
    pub readouts: Vec<String>,
}

/// Above live figures: why they are live, and how far the history is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HistoryNotice {
    /// Whether days of the range are still to come.
    pub lacks: bool,
    /// HTML.
    pub said: String,
}
