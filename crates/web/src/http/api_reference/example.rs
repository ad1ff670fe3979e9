//! Examples of requests and responses that are valid: `examples.json` has one for each object that is more than a list of others.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// By the name of the schema. The text `$Job` stands for the example of `Job`, and `{project}` for the id of a project.
static EXAMPLES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("examples.json"))
        .unwrap_or_else(|error| panic!("examples.json: {error}"))
});

/// An example of `schema`, which is part of `description`.
pub(super) fn example(description: &Value, schema: &Value) -> Value {
    if let Some(name) = super::reference(schema) {
        let schema = &description["components"]["schemas"][name];
        return match &EXAMPLES[name] {
            Value::Null => example(description, schema),
            known => resolved(known),
        };
    }
    if !schema["example"].is_null() {
        return schema["example"].clone();
    }
    for either in ["anyOf", "oneOf"] {
        if let Some(first) = schema[either].get(0) {
            return example(description, first);
        }
    }
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let of_parts = parts.filter_map(|part| match example(description, part) {
        Value::Object(fields) => Some(fields),
        _ => None,
    });
    let fields = schema["properties"].as_object().into_iter().flatten();
    let own = fields.map(|(name, field)| (name.clone(), example(description, field)));
    let all: Map<String, Value> = of_parts.flatten().chain(own).collect();
    match (all.is_empty(), &schema["items"]) {
        (true, items) if items.is_object() => json!([example(description, items)]),
        _ => all.into(),
    }
}

fn resolved(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => resolved(&EXAMPLES[name]),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(resolved).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), resolved(field))).collect(),
        other => other.clone(),
    }
}
