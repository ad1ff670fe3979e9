//! How each prompt of a job is shown, so that its page has a limited size: as Markdown where it fits, else as its source.
//! The newest follow-ups come first; those that do not fit are on an earlier page.

use crate::ui::components::long_text::folded_start;
use crate::ui::components::page_room::{Room, TEXT_MAX, beginning, escaped_len};
use crate::ui::pages::markdown::{Origin, formatted, has_markup};

/// The elements around a text.
const AROUND: usize = 1_024;

/// A follow-up of which not even the source fits is cut, but not below this.
const LEAST: usize = 16 * 1024;

/// After so many texts that are too large as Markdown, the others of the page are not tried.
const REFUSED_MAX: u32 = 3;

/// A longer source is taken to have markup, because parsing it for one link is not worth the time.
const PARSED_MAX: usize = 1_024;

/// A prompt as its page shows it.
#[derive(Debug, PartialEq)]
pub(super) struct ShownPrompt {
    pub(super) form: Form,
    /// The part that is shown while the prompt is folded; `None` if it is not folded.
    pub(super) start: Option<String>,
    pub(super) whole: String,
    /// The number of its characters.
    pub(super) chars: usize,
    /// Whether the other form, Markdown or source, looks different and can be shown.
    pub(super) has_other_form: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `start` and `whole` are HTML.
    Markdown,
    /// The source, as wanted.
    Source,
    /// The source, because the page would be too large with Markdown.
    TooLarge,
    /// The beginning of the source, because the page would be too large with all of it.
    Cut,
}

/// The prompts that a page shows.
pub(super) struct Fitted {
    /// The first prompt, unless the title has it.
    pub(super) first: Option<ShownPrompt>,
    /// The last of the follow-ups, as many as fit.
    pub(super) follow_ups: Vec<ShownPrompt>,
}

/// Fits the prompts into `room`. `around`: the size of what a follow-up has besides its text. At least one follow-up is
/// shown.
pub(super) fn fit(
    first: Option<&str>,
    follow_ups: &[(&str, usize)],
    as_source: bool,
    room: &mut Room,
) -> Fitted {
    let first = first.map(|text| Source::of(text, TEXT_MAX.min(room.left())));
    room.use_up(first.as_ref().map_or(0, |source| source.size));
    let mut newest_first: Vec<Source<'_>> = Vec::new();
    for (text, around) in follow_ups.iter().rev() {
        let source = Source::of(text, TEXT_MAX);
        if room.take(source.size + around) {
            newest_first.push(source);
        } else if newest_first.is_empty() {
            let source = Source::of(text, room.left().saturating_sub(*around).max(LEAST));
            room.use_up(source.size + around);
            newest_first.push(source);
        } else {
            break;
        }
    }
    let mut tries = if as_source { 0 } else { REFUSED_MAX };
    let mut shown = |source: Source<'_>| source.shown(as_source, &mut tries, room);
    let mut follow_ups: Vec<_> = newest_first.into_iter().map(&mut shown).collect();
    follow_ups.reverse();
    Fitted { first: first.map(shown), follow_ups }
}

/// A text as its source, which is counted in the room of the page.
struct Source<'a> {
    text: &'a str,
    start: Option<String>,
    is_cut: bool,
    size: usize,
}

impl<'a> Source<'a> {
    /// With at most `most` bytes of HTML.
    fn of(text: &'a str, most: usize) -> Self {
        let start = folded_start(text);
        let around = AROUND + start.as_deref().map_or(0, escaped_len);
        let whole = beginning(text, most.saturating_sub(around));
        Self { text: whole, start, is_cut: whole.len() < text.len(), size: around + escaped_len(whole) }
    }

    /// As Markdown if that fits. `tries`: how many more texts of the page may be too large.
    fn shown(self, as_source: bool, tries: &mut u32, room: &mut Room) -> ShownPrompt {
        let chars = self.text.chars().count();
        let most = TEXT_MAX.min(self.size + room.left());
        if !self.is_cut && *tries > 0 {
            if let Some(shown) = markdown(&self, most) {
                room.give_back(self.size);
                room.use_up(AROUND + shown.start.as_deref().map_or(0, str::len) + shown.whole.len());
                return ShownPrompt { chars, ..shown };
            }
            *tries -= 1;
        }
        let form = match (self.is_cut, as_source) {
            (true, _) => Form::Cut,
            (false, true) => Form::Source,
            (false, false) => Form::TooLarge,
        };
        let has_other_form = form == Form::Source && (self.text.len() > PARSED_MAX || has_markup(self.text));
        ShownPrompt { form, start: self.start, whole: self.text.to_owned(), chars, has_other_form }
    }
}

/// `None` if it would have more than `most` bytes.
fn markdown(source: &Source<'_>, most: usize) -> Option<ShownPrompt> {
    let most = most.checked_sub(AROUND)?;
    let whole = formatted(source.text, Origin::Person, most)?;
    let start = match &source.start {
        Some(start) => Some(formatted(start, Origin::Person, most - whole.html.len())?.html),
        None => None,
    };
    Some(ShownPrompt {
        form: Form::Markdown,
        start,
        whole: whole.html,
        chars: 0,
        has_other_form: whole.has_markup,
    })
}

#[cfg(test)]
mod tests;
