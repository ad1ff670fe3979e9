//! A text with the words of a search marked.

use leptos::either::Either;
use leptos::prelude::*;

use model::excerpt::SearchWords;

pub fn marked(text: &str, words: &SearchWords) -> impl IntoView + use<> {
    if words.is_empty() {
        return Either::Left(text.to_owned());
    }
    let pieces = words.pieces(text).into_iter().map(|(is_match, piece)| {
        let piece = piece.to_owned();
        if is_match { Either::Left(view! { <mark>{piece}</mark> }) } else { Either::Right(piece) }
    });
    Either::Right(pieces.collect_view())
}
