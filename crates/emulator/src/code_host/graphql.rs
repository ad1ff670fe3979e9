//! Runs queries of GraphQL over JSON objects: aliases, variables and fragments. The only fields with arguments are `repository` and `pullRequest`.

use std::cell::Cell;

use graphql_parser::query::{
    Definition, Document, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
    TypeCondition, Value as Argument, parse_query,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The parts of a list or an object deeper than this are not read.
const DEEPEST: usize = 12;

#[derive(Deserialize)]
struct Request {
    query: String,
    #[serde(default)]
    variables: Map<String, Value>,
}

/// The parser is recursive.
const NESTING_MAX: usize = 50;
/// The most selections that one query is allowed to run.
const SELECTIONS_MAX: usize = 100_000;

/// Why a query has no data.
struct Invalid(String);

struct Execution<'q> {
    fragments: Vec<&'q FragmentDefinition<'q, String>>,
    variables: &'q Map<String, Value>,
    errors: Vec<Value>,
    selections: Cell<usize>,
}

type Fields<'q> = SelectionSet<'q, String>;

/// The response to the body of a request. `pull_request` returns an object by repository and number.
pub(super) fn run(body: &[u8], pull_request: impl Fn(&str, u64) -> Option<Value>) -> Value {
    match execute(body, pull_request) {
        Ok(response) => response,
        Err(Invalid(message)) => json!({ "errors": [{ "message": message }] }),
    }
}

fn execute(body: &[u8], pull_request: impl Fn(&str, u64) -> Option<Value>) -> Result<Value, Invalid> {
    let request: Request =
        serde_json::from_slice(body).map_err(|_| Invalid("Problems parsing JSON".to_owned()))?;
    if nesting(&request.query) > NESTING_MAX {
        return Err(Invalid("The query is nested too deeply".to_owned()));
    }
    let document: Document<'_, String> =
        parse_query(&request.query).map_err(|error| Invalid(format!("Parse error: {error}")))?;
    let fields = operation(&document)?;
    let fragments = document.definitions.iter().filter_map(|definition| match definition {
        Definition::Fragment(fragment) => Some(fragment),
        Definition::Operation(_) => None,
    });
    let mut execution = Execution {
        fragments: fragments.collect(),
        variables: &request.variables,
        errors: Vec::new(),
        selections: Cell::new(0),
    };
    let mut data = Map::new();
    for selection in &fields.items {
        let Selection::Field(field) = selection else {
            return Err(Invalid("a fragment of the query itself".to_owned()));
        };
        if field.name != "repository" {
            return Err(unknown(&field.name, "Query"));
        }
        let name = response_name(field);
        let repository = execution.repository(field, &name, &pull_request)?;
        data.insert(name, repository);
    }
    let mut response = json!({ "data": data });
    if !execution.errors.is_empty() {
        response["errors"] = Value::Array(execution.errors);
    }
    Ok(response)
}

fn operation<'q>(document: &'q Document<'q, String>) -> Result<&'q Fields<'q>, Invalid> {
    let operations = document.definitions.iter().filter_map(|definition| match definition {
        Definition::Operation(operation) => Some(operation),
        Definition::Fragment(_) => None,
    });
    match operations.collect::<Vec<_>>()[..] {
        [OperationDefinition::Query(query)] => Ok(&query.selection_set),
        [OperationDefinition::SelectionSet(fields)] => Ok(fields),
        _ => Err(Invalid("A document must contain one query".to_owned())),
    }
}

impl<'q> Execution<'q> {
    fn repository(
        &mut self,
        field: &'q Field<'q, String>,
        alias: &str,
        pull_request: &impl Fn(&str, u64) -> Option<Value>,
    ) -> Result<Value, Invalid> {
        let (owner, name) = (self.argument(field, "owner"), self.argument(field, "name"));
        let (Some(owner), Some(name)) = (owner.as_str(), name.as_str()) else {
            return Err(Invalid("Field 'repository' is missing required arguments: owner, name".to_owned()));
        };
        let mut found = Map::new();
        for selection in &field.selection_set.items {
            let Selection::Field(field) = selection else { return Err(unknown("...", "Repository")) };
            if field.name != "pullRequest" {
                return Err(unknown(&field.name, "Repository"));
            }
            let number = self.argument(field, "number").as_u64();
            let number = number.ok_or_else(|| {
                Invalid("Field 'pullRequest' is missing required arguments: number".to_owned())
            })?;
            let key = response_name(field);
            let value = match pull_request(&format!("{owner}/{name}"), number) {
                Some(object) => self.select(&field.selection_set, &object, 0)?,
                None => {
                    let message = format!("Could not resolve to a PullRequest with the number of {number}.");
                    self.errors.push(
                        json!({ "type": "NOT_FOUND", "path": [alias, key.clone()], "message": message }),
                    );
                    Value::Null
                }
            };
            found.insert(key, value);
        }
        Ok(Value::Object(found))
    }

    fn select(&self, fields: &'q Fields<'q>, value: &Value, depth: usize) -> Result<Value, Invalid> {
        match value {
            Value::Array(items) => items.iter().map(|item| self.select(fields, item, depth)).collect(),
            Value::Object(object) if depth < DEEPEST => {
                let mut selected = Map::new();
                self.add(fields, object, depth, &mut selected)?;
                Ok(Value::Object(selected))
            }
            other => Ok(other.clone()),
        }
    }

    fn add(
        &self,
        fields: &'q Fields<'q>,
        object: &Map<String, Value>,
        depth: usize,
        selected: &mut Map<String, Value>,
    ) -> Result<(), Invalid> {
        self.selections.set(self.selections.get() + fields.items.len());
        if self.selections.get() > SELECTIONS_MAX {
            return Err(Invalid("The query selects too much".to_owned()));
        }
        let kind = object.get("__typename").and_then(Value::as_str);
        for selection in &fields.items {
            match selection {
                Selection::Field(field) => {
                    let value = object
                        .get(&field.name)
                        .ok_or_else(|| unknown(&field.name, kind.unwrap_or("Object")))?;
                    selected
                        .insert(response_name(field), self.select(&field.selection_set, value, depth + 1)?);
                }
                Selection::InlineFragment(fragment) => {
                    let is_here = match &fragment.type_condition {
                        Some(TypeCondition::On(name)) => Some(name.as_str()) == kind,
                        None => true,
                    };
                    if is_here && depth < DEEPEST {
                        self.add(&fragment.selection_set, object, depth + 1, selected)?;
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment =
                        self.fragments.iter().find(|fragment| fragment.name == spread.fragment_name);
                    let fragment = fragment.ok_or_else(|| {
                        Invalid(format!("Fragment {} was used, but not defined", spread.fragment_name))
                    })?;
                    if depth < DEEPEST {
                        self.add(&fragment.selection_set, object, depth + 1, selected)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The value of an argument; null if it is missing.
    fn argument(&self, field: &Field<'q, String>, name: &str) -> Value {
        let argument = field.arguments.iter().find(|(given, _)| given == name).map(|(_, value)| value);
        match argument {
            Some(Argument::Variable(name)) => self.variables.get(name).cloned().unwrap_or_default(),
            Some(Argument::Int(number)) => number.as_i64().into(),
            Some(Argument::String(text)) => text.clone().into(),
            _ => Value::Null,
        }
    }
}

/// The deepest nesting of brackets in a query. Brackets in texts count too.
fn nesting(query: &str) -> usize {
    let mut depth = 0_usize;
    let depths = query.bytes().map(|byte| {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or_default()
}

fn response_name(field: &Field<'_, String>) -> String {
    field.alias.as_ref().unwrap_or(&field.name).clone()
}

fn unknown(field: &str, kind: &str) -> Invalid {
    Invalid(format!("Field '{field}' doesn't exist on type '{kind}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(query: &str) -> String {
        let object = json!({ "__typename": "PullRequest", "state": "OPEN" });
        let body = json!({ "query": query }).to_string();
        let response = run(body.as_bytes(), |_, _| Some(object.clone()));
        assert!(response["data"].is_null(), "{response}");
        response["errors"][0]["message"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn endless_query_is_refused() {
        assert_eq!(message(&"{".repeat(100_000)), "The query is nested too deeply");
        let spreads = "...a ".repeat(20);
        let query = format!(
            "{{ repository(owner: \"a\", name: \"b\") {{ pullRequest(number: 1) {{ ...a }} }} }} fragment a on PullRequest {{ state {spreads} }}"
        );
        assert_eq!(message(&query), "The query selects too much");
    }

    #[test]
    fn unknown_field_is_refused() {
        let query = |field: &str| {
            format!("{{ repository(owner: \"a\", name: \"b\") {{ pullRequest(number: 1) {{ {field} }} }} }}")
        };
        assert_eq!(message(&query("mood")), "Field 'mood' doesn't exist on type 'PullRequest'");
        assert_eq!(message(&query("...none")), "Fragment none was used, but not defined");
    }
}
