//! Several questions at once, and their answers as one.

use std::future::poll_fn;
use std::task::Poll;

use super::{Answer, Answering};

/// Asks all `questions` at once. Their answers come as one object with a field for each; or the first error among them.
pub async fn together(questions: Vec<(&'static str, Answering)>) -> Answer {
    let mut asked: Vec<_> = questions.into_iter().map(|(name, question)| (name, question, None)).collect();
    poll_fn(|context| {
        for (_, question, answer) in asked.iter_mut().filter(|(.., answer)| answer.is_none()) {
            if let Poll::Ready(ready) = question.as_mut().poll(context) {
                *answer = Some(ready);
            }
        }
        if asked.iter().all(|(.., answer)| answer.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let mut object = String::from("{");
    for (name, _, answer) in asked {
        let separator = if object.len() > 1 { "," } else { "" };
        if let Some(answer) = answer {
            object.push_str(&format!("{separator}\"{name}\":{}", answer?));
        }
    }
    Ok(object + "}")
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::error::AppError;

    fn answered(after: u32, answer: Answer) -> Answering {
        Box::pin(async move {
            for _ in 0..after {
                tokio::task::yield_now().await;
            }
            answer
        })
    }

    #[tokio::test]
    async fn answers_keep_their_names_whichever_comes_first() {
        let slow = ("slow", answered(3, Ok("[1]".to_owned())));
        let fast = ("fast", answered(0, Ok("null".to_owned())));
        assert_eq!(together(vec![slow, fast]).await, Ok(r#"{"slow":[1],"fast":null}"#.to_owned()));
        assert_eq!(together(Vec::new()).await, Ok("{}".to_owned()));
    }

    #[tokio::test]
    async fn one_error_is_the_answer() {
        let error = AppError::not_found("gone");
        let questions = vec![("a", answered(2, Ok("1".to_owned()))), ("b", answered(0, Err(error.clone())))];
        assert_eq!(together(questions).await, Err(error));
    }
}
