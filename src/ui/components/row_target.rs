/// Matches the main link of a row, in any list.
pub const ROW_TARGET: &str = ":is(.row-target, .job-title)";
