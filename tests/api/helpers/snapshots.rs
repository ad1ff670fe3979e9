//! Bodies and texts for snapshots: what differs from run to run has a name there.

use model::time::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// These fields of an object.
pub(crate) fn picked<const N: usize>(object: &Value, names: [&str; N]) -> Value {
    names.into_iter().map(|name| (name.to_owned(), object[name].clone())).collect()
}

/// A body with names for its ids, instants and addresses.
pub(crate) fn steady(body: &Value) -> Value {
    serde_json::from_str(&steady_text(&body.to_string())).unwrap()
}

/// A text in which `[id 1]` is the first id and `[id 2]` the next other one, so that equal ids stay equal. `[time]` is an instant, and
/// `[address]` a server on this machine.
pub(crate) fn steady_text(text: &str) -> String {
    let (mut steady, mut ids, mut rest) = (String::new(), Vec::new(), text);
    while let Some(next) = rest.chars().next() {
        let (name, length) = if let Some(id) = id(rest) {
            (format!("[id {}]", number(&mut ids, id)), id.len())
        } else if let Some(time) = instant(rest) {
            ("[time]".to_owned(), time.len())
        } else if let Some(port) = rest.strip_prefix("127.0.0.1:") {
            ("[address]".to_owned(), rest.len() - port.len() + digits(port))
        } else {
            (next.to_string(), next.len_utf8())
        };
        steady.push_str(&name);
        rest = &rest[length..];
    }
    steady
}

/// The number of an id, in the order of the first appearance.
fn number<'a>(ids: &mut Vec<&'a str>, id: &'a str) -> usize {
    if !ids.contains(&id) {
        ids.push(id);
    }
    1 + ids.iter().position(|known| *known == id).unwrap()
}

/// An id of Docket at the begin of a text, or one that [`super::detached_job`] made.
fn id(text: &str) -> Option<&str> {
    if let Some(number) = text.strip_prefix("job_made_up_") {
        return text.get(..text.len() - number.len() + digits(number));
    }
    text.get(..36).filter(|id| Uuid::try_parse(id).is_ok())
}

/// An instant at the begin of a text.
fn instant(text: &str) -> Option<&str> {
    let end = text.starts_with(|first: char| first.is_ascii_digit()).then(|| text.find('Z')).flatten()?;
    text.get(..=end).filter(|instant| instant.len() < 32 && instant.parse::<Timestamp>().is_ok())
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
