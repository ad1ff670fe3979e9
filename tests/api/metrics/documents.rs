//! Metrics in the documents for operators: every documented metric exists, and every existing one is documented.

use std::collections::BTreeSet;

use serde_json::Value;

use super::FAMILIES;

pub(super) const DASHBOARD: &str = include_str!("../../../docs/operate/dashboard.json");
pub(super) const ALERTS: &str = include_str!("../../../docs/operate/alerts.yml");
pub(super) const MONITORING: &str = include_str!("../../../docs/operate/monitoring.md");

/// The names in an expression that are neither functions nor labels.
pub(super) fn metrics_in(expression: &str) -> Vec<&str> {
    let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("docket_") || word.starts_with("process_")).collect()
}

fn assert_exists(name: &str) {
    let is_sample = FAMILIES.iter().any(|(family, kind)| match *kind {
        "histogram" => ["_bucket", "_sum", "_count"].iter().any(|suffix| format!("{family}{suffix}") == name),
        _ => *family == name,
    });
    assert!(is_sample, "there is no {name}");
}

/// Every `expr` within a value.
pub(super) fn expressions(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match (name.as_str(), value) {
                ("expr", Value::String(expression)) => vec![expression.as_str()],
                (_, value) => expressions(value),
            })
            .collect(),
        Value::Array(values) => values.iter().flat_map(expressions).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn metrics_of_dashboard_and_alerts_exist() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let shown = expressions(&dashboard);
    assert!(shown.len() >= 15, "{shown:?}");
    let watched: Vec<&str> = ALERTS.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    assert_eq!(watched.len(), ALERTS.matches("- alert: ").count());
    for expression in shown.into_iter().chain(watched) {
        let names = metrics_in(expression);
        assert!(!names.is_empty() || expression.contains("up{"), "{expression}");
        names.into_iter().for_each(assert_exists);
    }
}

#[test]
fn every_alert_is_documented_with_an_action() {
    let alerts: BTreeSet<&str> =
        ALERTS.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let explained: BTreeSet<&str> = MONITORING.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert!(alerts.len() >= 10);
    assert_eq!(alerts, explained);
    for part in ["for: ", "severity: ", "summary: "] {
        assert_eq!(ALERTS.matches(part).count(), alerts.len(), "{part}");
    }
}

#[test]
fn every_metric_is_documented_once() {
    let rows = MONITORING.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let names = rows.map(|(name, _)| name).filter(|name| !name.starts_with("DOCKET_"));
    let mut described: Vec<&str> = names.collect();
    described.sort_unstable();
    assert_eq!(described, FAMILIES.map(|(name, _)| name));
}
