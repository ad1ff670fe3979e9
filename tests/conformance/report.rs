//! The results, point by point, ending like Rust's own tests, so that one count covers both.

use std::process::ExitCode;

#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    broken: Vec<String>,
    left_out: usize,
}

/// `Err` describes the problem.
pub(crate) type Finding = Result<(), String>;

impl Report {
    /// One point of the specification, and whether it holds.
    pub(crate) fn point(&mut self, name: &str, finding: Finding) {
        match finding {
            Ok(()) => {
                println!("point {name} ... ok");
                self.passed += 1;
            }
            Err(problem) => {
                println!("point {name} ... FAILED\n    {problem}");
                self.broken.push(format!("{name}: {problem}"));
            }
        }
    }

    /// A point that cannot be checked here, and why.
    pub(crate) fn left_out(&mut self, name: &str, reason: &str) {
        println!("point {name} ... left out: {reason}");
        self.left_out += 1;
    }

    /// Prints the result. Fails if a point is broken, or left out although none may be.
    pub(crate) fn end(self, may_leave_out: bool) -> ExitCode {
        println!();
        for broken in &self.broken {
            println!("broken: {broken}");
        }
        let is_whole = self.left_out == 0 || may_leave_out;
        let (word, code) = match self.broken.is_empty() && is_whole {
            true => ("ok", ExitCode::SUCCESS),
            false => ("FAILED", ExitCode::FAILURE),
        };
        println!(
            "test result: {word}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out\n",
            self.passed,
            self.broken.len(),
            self.left_out
        );
        code
    }
}

/// Holds if `condition` is true.
pub(crate) fn ensure(condition: bool, problem: impl FnOnce() -> String) -> Finding {
    if condition { Ok(()) } else { Err(problem()) }
}
