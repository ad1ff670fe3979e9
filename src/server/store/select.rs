//! Putting a statement over the listed jobs together from its conditions. Values are bound, never written into the text.
//!
//! The rule of every plan: one thing leads, and the rest is checked on the way. What leads is a set of numbers (the words of
//! a search, a label) or, without one, the index that has the wanted order and every column that is filtered by.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

/// Where listed jobs (as `l`) come from, and what must hold for them.
pub(super) struct Select {
    source: String,
    number: &'static str,
    is_led: bool,
    conditions: String,
    values: Vec<Value>,
}

/// A statement with its values.
pub(super) struct Statement {
    sql: String,
    values: Vec<Value>,
}

enum Value {
    Text(String),
    Number(i64),
}

impl Select {
    /// All listed jobs of `project`.
    pub(super) fn of(project: &str) -> Self {
        let mut select = Self {
            source: "listed_jobs l".to_owned(),
            number: "l.number",
            is_led: false,
            conditions: String::new(),
            values: Vec::new(),
        };
        let project = select.bind(project.to_owned());
        select.conditions = format!("l.project = {project}");
        select
    }

    /// Reads the jobs by way of another table, in the order of its column `number`. The planner keeps to the order in which a
    /// cross join names its tables.
    pub(super) fn lead(&mut self, table: &str, number: &'static str) {
        self.source = format!("{table} CROSS JOIN listed_jobs l");
        (self.number, self.is_led) = (number, true);
        self.and(&format!("l.number = {number}"));
    }

    /// Whether the jobs are already read by way of another table.
    pub(super) fn is_led(&self) -> bool {
        self.is_led
    }

    /// Keeps the jobs whose numbers `set` selects: before anything else is read of them.
    pub(super) fn within(&mut self, set: &str) {
        // The sign keeps SQLite from looking each number of the set up in what leads.
        let number = self.number;
        self.and(&format!("+{number} IN ({set})"));
    }

    /// The expression for a job's number.
    pub(super) fn number(&self) -> &'static str {
        self.number
    }

    /// The placeholder of the project.
    pub(super) fn project(&self) -> &'static str {
        "$1"
    }

    pub(super) fn and(&mut self, condition: &str) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
    }

    /// The placeholder of a text.
    pub(super) fn bind(&mut self, text: impl Into<String>) -> String {
        self.placeholder(Value::Text(text.into()))
    }

    /// The placeholder of a number.
    pub(super) fn bind_number(&mut self, number: i64) -> String {
        self.placeholder(Value::Number(number))
    }

    /// The statement that reads `columns`, with `tail` for order, groups and limits.
    pub(super) fn statement(self, columns: &str, tail: &str) -> Statement {
        let sql = format!("SELECT {columns} FROM {} WHERE {} {tail}", self.source, self.conditions);
        Statement { sql, values: self.values }
    }

    fn placeholder(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }
}

impl Statement {
    pub(super) fn query(self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql));
        self.values.into_iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text),
            Value::Number(number) => query.bind(number),
        })
    }

    /// What reads how the database would run it.
    #[cfg(test)]
    pub(super) fn explained(self) -> Self {
        Self { sql: format!("EXPLAIN QUERY PLAN {}", self.sql), ..self }
    }
}

/// A list of `count` placeholders from `$first` on, to stand between parentheses. A list without an element is no SQL; NULL
/// is equal to nothing.
pub(super) fn places(first: usize, count: usize) -> String {
    if count == 0 {
        return "NULL".to_owned();
    }
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

/// `text` for a LIKE pattern with `ESCAPE '!'`: every character stands for itself.
pub(super) fn escape_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
