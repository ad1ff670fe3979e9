//! Properties of fitted prompts, for generated hostile Markdown.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Markdown whose HTML is much longer than its source.
fn hostile() -> impl Strategy<Value = String> {
    let table = (1_usize..1_500, 0_usize..4_000).prop_map(|(columns, rows)| {
        format!("{}\n{}\n{}", "|a".repeat(columns), "|-".repeat(columns), "|x\n".repeat(rows))
    });
    let quotes = (1_usize..400, 1_usize..60)
        .prop_map(|(depth, lines)| format!("{}x\n\n", "> ".repeat(depth)).repeat(lines));
    let lists = (1_usize..120, 1_usize..40).prop_map(|(depth, times)| {
        let list: String = (0..depth).map(|level| format!("{}- x\n", " ".repeat(2 * level))).collect();
        format!("{list}\n").repeat(times)
    });
    let links = (1_usize..2_000, 1_usize..2_000).prop_map(|(length, uses)| {
        format!(
            "[a]: https://example.com/{} \"{}\"\n\n{}",
            "&".repeat(length),
            "\"".repeat(length),
            "[a]".repeat(uses)
        )
    });
    let footnotes = (1_usize..2_000).prop_map(|uses| format!("[^a]: & text\n\n{}", "[^a] ".repeat(uses)));
    let repeated = (
        prop_oneof![
            Just("&"),
            Just("\""),
            Just("<b>"),
            Just("**"),
            Just("*a*"),
            Just("~~a~~"),
            Just("`a`"),
            Just("\n"),
            Just("\n\n"),
            Just("# a\n"),
            Just("- [ ] a\n"),
            Just("---\n"),
            Just("![a]("),
            Just("[a]("),
            Just("    a\n"),
            Just("```\n"),
            Just("1. a\n"),
            Just("漢"),
            Just("a b "),
            Just("<https://a.b>"),
            Just("a\\\n"),
            Just("&amp;"),
        ],
        1_usize..9_000,
    )
        .prop_map(|(part, times)| part.repeat(times));
    let one = prop_oneof![3 => table, 3 => quotes, 2 => lists, 2 => links, 1 => footnotes, 4 => repeated];
    vec(one, 1..3).prop_map(|parts| parts.concat().chars().take(100_000).collect())
}

/// The size of a prompt in the page.
fn size(shown: &ShownPrompt) -> usize {
    let of = |text: &str| match shown.form {
        Form::Markdown => text.len(),
        _ => escaped_len(text),
    };
    AROUND + shown.start.as_deref().map_or(0, of) + of(&shown.whole)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn prompts_stay_within_the_limits_of_text_and_page(
        first in hostile(),
        follow_ups in vec((hostile(), 0_usize..9_000), 0..60),
        as_source: bool,
        other in 0_usize..800_000,
    ) {
        let mut room = Room::of_page();
        room.use_up(other);
        let before = room.left();
        let given: Vec<_> = follow_ups.iter().map(|(text, around)| (text.as_str(), *around)).collect();
        let fitted = fit(Some(&first), &given, as_source, &mut room);
        let prompts: Vec<_> = fitted.first.iter().chain(&fitted.follow_ups).collect();
        for prompt in &prompts {
            prop_assert!(size(prompt) <= TEXT_MAX, "{} bytes", size(prompt));
        }
        let around: usize = given.iter().rev().take(fitted.follow_ups.len()).map(|(_, around)| around).sum();
        let all = prompts.iter().map(|prompt| size(prompt)).sum::<usize>() + around;
        // At least one follow-up is shown, and all of its elements.
        prop_assert!(all <= before + 2 * LEAST + 9_000, "{all} bytes in {before}");
        if fitted.follow_ups.len() > 1 {
            prop_assert!(all <= before, "{all} bytes in {before}");
        }
        prop_assert_eq!(fitted.follow_ups.is_empty(), given.is_empty());
        let shown = given.iter().rev().zip(fitted.follow_ups.iter().rev());
        for ((text, _), prompt) in shown.filter(|(_, prompt)| prompt.form != Form::Markdown) {
            prop_assert!(text.starts_with(&prompt.whole));
            prop_assert_eq!(prompt.form == Form::Cut, prompt.whole.len() < text.len());
        }
    }
}

fn forms(fitted: &Fitted) -> Vec<Form> {
    fitted.first.iter().chain(&fitted.follow_ups).map(|prompt| prompt.form).collect()
}

#[test]
fn usual_prompts_are_all_shown_as_markdown() {
    let text = "# Fix it\n\n- one\n- two\n\n".repeat(100);
    let follow_ups = [(text.as_str(), 4_000); 50];
    let fitted = fit(Some(&text), &follow_ups, false, &mut Room::of_page());
    assert_eq!(forms(&fitted), [Form::Markdown; 51]);
    let fitted = fit(Some(&text), &follow_ups, true, &mut Room::of_page());
    assert_eq!(forms(&fitted), [Form::Source; 51]);
    assert!(fitted.follow_ups.iter().all(|prompt| prompt.has_other_form));
}

#[test]
fn prompt_that_grows_is_shown_as_source() {
    let table = format!("{}\n{}\n{}", "|a".repeat(800), "|-".repeat(800), "|x\n".repeat(3_000));
    let fitted = fit(Some("# a"), &[(&table, 0), ("**b**", 0)], false, &mut Room::of_page());
    assert_eq!(forms(&fitted), [Form::Markdown, Form::TooLarge, Form::Markdown]);
    assert_eq!(fitted.follow_ups[0].whole, table);
}

#[test]
fn sources_of_all_follow_ups_go_before_markdown_of_some() {
    let text = "a\n\n".repeat(5_000);
    let fitted = fit(None, &[(text.as_str(), 0); 40], false, &mut Room::of_page());
    assert_eq!(fitted.follow_ups.len(), 40);
    let is_markdown = |prompt: &ShownPrompt| prompt.form == Form::Markdown;
    assert!(fitted.follow_ups.last().is_some_and(is_markdown), "the newest come first");
    assert!(!fitted.follow_ups.first().is_some_and(is_markdown));
}

#[test]
fn follow_ups_that_do_not_fit_are_left_for_an_earlier_page() {
    let text = "a".repeat(100_000);
    let fitted = fit(Some(&text), &[(text.as_str(), 0); 50], false, &mut Room::of_page());
    assert!((5..9).contains(&fitted.follow_ups.len()), "{}", fitted.follow_ups.len());
    let ideographs = "漢".repeat(100_000);
    let fitted = fit(None, &[(&ideographs, 0)], false, &mut Room::of_page());
    assert_eq!(forms(&fitted), [Form::Cut]);
}
