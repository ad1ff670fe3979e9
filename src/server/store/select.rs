//! Putting a statement over the listed jobs together from its conditions. Values are bound, never written into the text.
//!
//! The rule of every plan: one thing is scanned, and the rest is checked on the way. What is scanned is the index that has the wanted
//! order and every column that is filtered by; or, where the order is that of the numbers, the first set of them (the words of
//! a search, a label).

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe};

/// Where listed jobs (as `l`) come from, and what must hold for them.
pub(super) struct Select {
    source: String,
    number: &'static str,
    scan_by: ScanBy,
    has_set: bool,
    conditions: String,
    project: String,
    /// How many values stand before these in the statement that this is a part of.
    before: usize,
    values: Vec<Value>,
}

/// What the statement scans by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanBy {
    /// The index that has the wanted order.
    Index,
    /// The first set of numbers, if there is one.
    Set,
}

/// Numbers of jobs: a column of those rows of a table, here called `s`, for which a condition holds.
pub(super) struct Set {
    pub table: &'static str,
    pub number: &'static str,
    pub condition: String,
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
    /// All listed jobs of `project`. `before` is how many values the statement has that this one will be a part of.
    pub(super) fn of(project: &str, scan_by: ScanBy, before: usize) -> Self {
        let mut select = Self {
            source: "listed_jobs l".to_owned(),
            number: "l.number",
            scan_by,
            has_set: false,
            conditions: String::new(),
            project: String::new(),
            before,
            values: Vec::new(),
        };
        select.project = select.bind(project.to_owned());
        select.conditions = format!("l.project = {}", select.project);
        select
    }

    /// Keeps the jobs whose numbers are in `set`.
    pub(super) fn within(&mut self, set: &Set) {
        let Set { table, number, condition } = set;
        if self.scan_by == ScanBy::Set && !self.has_set {
            // The planner keeps to the order in which a cross join names its tables.
            self.source = format!("{table} s CROSS JOIN listed_jobs l");
            self.number = number;
            self.and(&format!("l.number = {number} AND {condition}"));
        } else {
            // The sign keeps SQLite from looking each number of the set up in what leads.
            let own = self.number;
            self.and(&format!("+{own} IN (SELECT {number} FROM {table} s WHERE {condition})"));
        }
        self.has_set = true;
    }

    /// Whether the jobs are kept by a set already.
    pub(super) fn has_set(&self) -> bool {
        self.has_set
    }

    /// The expression for a job's number.
    pub(super) fn number(&self) -> &'static str {
        self.number
    }

    /// The placeholder of the project.
    pub(super) fn project(&self) -> &str {
        &self.project
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
        format!("${}", self.before + self.values.len())
    }
}

impl Statement {
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// How many values it has.
    pub(super) fn values(&self) -> usize {
        self.values.len()
    }

    /// A statement that `parts` stand in, with their values in this order.
    pub(super) fn around(sql: String, parts: impl IntoIterator<Item = Self>) -> Self {
        Self { sql, values: parts.into_iter().flat_map(|part| part.values).collect() }
    }

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
pub(super) fn sql_placeholders(first: usize, count: usize) -> String {
    if count == 0 {
        return "NULL".to_owned();
    }
    (first..first + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

/// `text` for a LIKE pattern with `ESCAPE '!'`: every character stands for itself.
pub(super) fn escape_like(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}
