//! The ranges of a template's placeholders in a prompt while a person edits both. Each field of the template writes into its
//! slots; the other text of the prompt stays. Pure.

use super::{Parsed, Piece, pieces};

/// The range of a placeholder or its value, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Slot {
    name: String,
    /// Its text without a value: the placeholder, or its default.
    unfilled: String,
    from: usize,
    to: usize,
}

/// A prompt and its slots, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slots {
    text: String,
    slots: Vec<Slot>,
}

impl Slots {
    /// `before` and then `template`, filled with the values from `value`. A placeholder without a value has its default, or
    /// stays.
    pub fn of(before: &str, template: &str, value: impl Fn(&str) -> Option<String>) -> Self {
        let mut made = Self { text: before.to_owned(), slots: Vec::new() };
        let parsed = Parsed::of(template);
        for piece in pieces(template) {
            match piece {
                Piece::Text(plain) => made.text.push_str(plain),
                Piece::Placeholder { name, .. } => {
                    let (from, unfilled) = (made.text.len(), parsed.unfilled(name));
                    match value(name) {
                        Some(value) => made.text.push_str(&value),
                        None => made.text.push_str(&unfilled),
                    }
                    made.slots.push(Slot { name: name.to_owned(), unfilled, from, to: made.text.len() });
                }
            }
        }
        made
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the prompt has a slot with this name.
    pub fn has(&self, name: &str) -> bool {
        self.slots.iter().any(|slot| slot.name == name)
    }

    /// Writes `value` into all slots with this name; the default or the placeholder if it is empty.
    pub fn fill(&mut self, name: &str, value: &str) {
        let (mut text, mut at) = (String::new(), 0);
        for slot in &mut self.slots {
            text.push_str(&self.text[at..slot.from]);
            let (from, old) = (text.len(), &self.text[slot.from..slot.to]);
            text.push_str(match (slot.name == name, value) {
                (false, _) => old,
                (true, "") => &slot.unfilled,
                (true, value) => value,
            });
            at = slot.to;
            (slot.from, slot.to) = (from, text.len());
        }
        text.push_str(&self.text[at..]);
        self.text = text;
    }

    /// Adjusts the slots to an edit of the prompt to `text`: slots move with the text around them, grow with text typed into
    /// them, and end with text that is removed. If no slot remains, searches for those of `filled`.
    pub fn follow(&mut self, text: &str, filled: &Self) {
        let head = common(self.text.chars(), text.chars());
        let tail = common(self.text[head..].chars().rev(), text[head..].chars().rev());
        let (old_end, new_end) = (self.text.len() - tail, text.len() - tail);
        self.slots.retain_mut(|slot| {
            let is_before = slot.to <= head;
            let is_behind = !is_before && slot.from >= old_end;
            if is_behind {
                slot.from = slot.from - old_end + new_end;
            }
            let has_edit = !is_before && slot.from <= head && slot.to >= old_end;
            if is_behind || has_edit {
                slot.to = slot.to - old_end + new_end;
            }
            is_before || is_behind || has_edit
        });
        self.text = text.to_owned();
        if self.slots.is_empty()
            && let Some(at) = text.find(&filled.text)
        {
            let moved = |slot: &Slot| Slot { from: at + slot.from, to: at + slot.to, ..slot.clone() };
            self.slots = filled.slots.iter().map(moved).collect();
        }
    }

    /// Adds slots for other placeholders with this name in the text.
    pub fn add_other_slots(&mut self, name: &str) {
        let written = written(name);
        let found: Vec<_> = self.text.match_indices(&written).map(|(at, _)| at).collect();
        for from in found {
            let at = self.slots.iter().position(|slot| slot.to > from).unwrap_or(self.slots.len());
            if self.slots.get(at).is_none_or(|next| next.from >= from + written.len()) {
                let known = self.slots.iter().find(|slot| slot.name == name);
                let unfilled = known.map_or_else(|| written.clone(), |slot| slot.unfilled.clone());
                let slot = Slot { name: name.to_owned(), unfilled, from, to: from + written.len() };
                self.slots.insert(at, slot);
            }
        }
    }
}

fn written(name: &str) -> String {
    ["{{", name, "}}"].concat()
}

/// The length of the common prefix, in bytes.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "Check {{ page }} for {{who}}, {{page}}.";

    fn unfilled() -> Slots {
        Slots::of("", TEMPLATE, |_| None)
    }

    fn edited(slots: &mut Slots, text: &str) {
        slots.follow(text, &unfilled());
    }

    #[test]
    fn field_fills_each_slot_and_restores_the_placeholder() {
        let mut slots = Slots::of("Mine é\n\n", TEMPLATE, |name| (name == "who").then(|| "all".to_owned()));
        assert_eq!(slots.text(), "Mine é\n\nCheck {{page}} for all, {{page}}.");
        slots.fill("page", "/é");
        assert_eq!(slots.text(), "Mine é\n\nCheck /é for all, /é.");
        slots.fill("who", "");
        slots.fill("page", "/guides");
        assert_eq!(slots.text(), "Mine é\n\nCheck /guides for {{who}}, /guides.");
    }

    #[test]
    fn empty_field_restores_the_default() {
        let mut slots = Slots::of("", "Use {{version=3.2}}, {{version}}.", |_| None);
        assert_eq!(slots.text(), "Use 3.2, 3.2.");
        slots.fill("version", "4");
        assert_eq!(slots.text(), "Use 4, 4.");
        slots.fill("version", "");
        assert_eq!(slots.text(), "Use 3.2, 3.2.");
    }

    #[test]
    fn slots_follow_edits_around_and_inside_them() {
        let mut slots = unfilled();
        slots.fill("page", "/a");
        edited(&mut slots, "Please check /a for {{who}}, /a.");
        edited(&mut slots, "Please check /a for {{who}}, /xa.");
        edited(&mut slots, "Please check /a for {{who}}, /xa. Thanks");
        slots.fill("who", "é");
        slots.fill("page", "/b");
        assert_eq!(slots.text(), "Please check /b for é, /b. Thanks");
    }

    #[test]
    fn removed_slot_has_no_field() {
        let mut slots = unfilled();
        edited(&mut slots, "Check {{page}}.");
        assert!(slots.has("page") && !slots.has("who"));
        slots.fill("page", "/a");
        assert_eq!(slots.text(), "Check /a.");
        edited(&mut slots, "Mine");
        assert!(!slots.has("page"));
        slots.fill("page", "/b");
        assert_eq!(slots.text(), "Mine");
    }

    #[test]
    fn restored_text_has_its_slots_again() {
        let mut slots = unfilled();
        edited(&mut slots, "Mine");
        edited(&mut slots, "Mine, and Check {{page}} for {{who}}, {{page}}.");
        slots.fill("page", "/a");
        assert_eq!(slots.text(), "Mine, and Check /a for {{who}}, /a.");
    }

    #[test]
    fn typed_placeholder_becomes_a_slot() {
        let mut slots = unfilled();
        slots.fill("page", "/a");
        edited(&mut slots, "{{page}} Check /a for {{who}}, /a.");
        edited(&mut slots, "{{page}} Check /a for {{who}}, /a. {{page}}");
        for name in ["page", "who", "page"] {
            slots.add_other_slots(name);
        }
        slots.fill("page", "/b");
        assert_eq!(slots.text(), "/b Check /b for {{who}}, /b. /b");
    }

    // Every edit of a short text leaves ranges that are in order and on character boundaries.
    #[test]
    fn slots_are_in_order_after_any_edit() {
        let texts = ["", "é", "éé", "{{page}}", "é{{page}}é", "aéb {{who}}", "Check {{page}} for", TEMPLATE];
        for first in texts {
            for second in texts {
                let mut slots = unfilled();
                for text in [first, second] {
                    edited(&mut slots, text);
                    for name in ["page", "who"] {
                        slots.add_other_slots(name);
                    }
                    slots.fill("page", "éé");
                    slots.fill("who", "");
                    let ends = slots.slots.iter().flat_map(|slot| [slot.from, slot.to]).collect::<Vec<_>>();
                    assert!(ends.is_sorted(), "{first:?} {second:?} {slots:?}");
                }
            }
        }
    }
}
