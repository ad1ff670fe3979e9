//! The reference of the JSON API as Markdown, from its OpenAPI description.

use std::fmt::Write;

use serde_json::{Map, Value, json};

/// The text, in which `curl` calls the server at `origin`.
pub(super) fn markdown(description: &Value, origin: &str) -> String {
    let mut text = String::new();
    let none = Map::new();
    let paths = description["paths"].as_object().unwrap_or(&none);
    _ = writeln!(text, "{}", sentence(&description["info"]["description"]));
    for tag in tags(description) {
        _ = writeln!(text, "\n## {tag}\n");
        for (path, method, endpoint) in endpoints(paths).filter(|(_, _, endpoint)| tag_of(endpoint) == tag) {
            write_endpoint(&mut text, description, origin, (path, method, endpoint));
        }
    }
    text.push_str("\n## Objects\n");
    for (name, schema) in description["components"]["schemas"].as_object().unwrap_or(&none) {
        let parts = schema["allOf"].as_array();
        if schema["properties"].is_object() || schema["enum"].is_array() || parts.is_some() {
            _ = writeln!(text, "\n### {name}\n\n{}\n", sentence(&schema["description"]));
        }
        if schema["properties"].is_object() {
            write_fields(&mut text, schema);
        }
        if let Some(parts) = parts {
            let parts: Vec<String> = parts.iter().map(kind).collect();
            _ = writeln!(text, "It has the fields of {}.", parts.join(" and "));
        }
    }
    text
}

/// Each endpoint: path, method, and its description.
fn endpoints(paths: &Map<String, Value>) -> impl Iterator<Item = (&str, &str, &Value)> {
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, endpoint)| (path.as_str(), method.as_str(), endpoint))
    })
}

/// The tags, in the order of the description.
fn tags(description: &Value) -> impl Iterator<Item = &str> {
    description["tags"].as_array().into_iter().flatten().map(|tag| string(&tag["name"]))
}

fn tag_of(endpoint: &Value) -> &str {
    string(&endpoint["tags"][0])
}

fn write_endpoint(
    text: &mut String,
    description: &Value,
    origin: &str,
    (path, method, endpoint): (&str, &str, &Value),
) {
    _ = writeln!(text, "### {} `{path}`\n\n{}\n", method.to_uppercase(), sentence(&endpoint["summary"]));
    if let Some(more) = endpoint["description"].as_str() {
        _ = writeln!(text, "{more}\n");
    }
    let parameters = endpoint["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !parameters.is_empty() {
        text.push_str("| parameter | in | type | |\n|---|---|---|---|\n");
    }
    for parameter in parameters {
        let required = if parameter["required"] == true { " (required)" } else { "" };
        _ = writeln!(
            text,
            "| `{}`{required} | {} | {} | {} |",
            string(&parameter["name"]),
            string(&parameter["in"]),
            bounded(&parameter["schema"]),
            cell(&parameter["description"])
        );
    }
    let body = &endpoint["requestBody"]["content"]["application/json"]["schema"];
    if body.is_object() {
        _ = writeln!(text, "\nBody: {}\n", kind(body));
    }
    text.push_str("\n| status | body | |\n|---|---|---|\n");
    for (status, response) in endpoint["responses"].as_object().into_iter().flatten() {
        let schema = response["content"].as_object().and_then(|content| content.values().next());
        let body = schema.map_or_else(String::new, |content| kind(&content["schema"]));
        let status = if status == "default" { "otherwise" } else { status };
        _ = writeln!(text, "| {status} | {body} | {} |", cell(&response["description"]));
    }
    let example = is_reference(body).then(|| example(description, body));
    _ = writeln!(text, "\n```sh\n{}\n```\n", curl(origin, path, method, parameters, example.as_ref()));
}

fn write_fields(text: &mut String, schema: &Value) {
    text.push_str("| field | type | |\n|---|---|---|\n");
    let required = schema["required"].as_array();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.is_some_and(|required| required.iter().any(|it| it == name));
        let optional = if is_required { "" } else { " (optional)" };
        // The description of a field that may be null is beside the reference to its type.
        let either = field["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut words = [field].into_iter().chain(either).map(|schema| cell(&schema["description"]));
        let words = words.find(|words| !words.is_empty()).unwrap_or_default();
        _ = writeln!(text, "| `{name}`{optional} | {} | {words} |", bounded(field));
    }
}

/// The command line of a request.
fn curl(origin: &str, path: &str, method: &str, parameters: &[Value], body: Option<&Value>) -> String {
    let path = path.replace("{project}", "docs").replace("{job}", "$JOB");
    let mut line = String::from("curl -H \"Authorization: Bearer $DOCKET_TOKEN\"");
    if parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key") {
        line.push_str(" -H \"Idempotency-Key: $KEY\"");
    }
    match body {
        Some(body) => _ = write!(line, " \\\n  --json '{body}'"),
        None if method == "post" => line.push_str(" -X POST"),
        None => {}
    }
    line + &format!(" \\\n  {origin}{path}")
}

/// An object with the required fields of a schema; with the first field if none is required.
fn example(description: &Value, schema: &Value) -> Value {
    let name = reference(schema).unwrap_or_default();
    let schema = &description["components"]["schemas"][name];
    if !schema["example"].is_null() {
        return schema["example"].clone();
    }
    let fields = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    fields
        .iter()
        .filter_map(|field| Some((field.as_str()?.to_owned(), json!("…"))))
        .collect::<Map<_, _>>()
        .into()
}

fn is_reference(schema: &Value) -> bool {
    reference(schema).is_some()
}

/// The name of the schema that this one refers to.
fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The type of a value in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return match name {
            "Timestamp" => "time".to_owned(),
            "Day" => "day".to_owned(),
            name => format!("**{name}**"),
        };
    }
    if let Some(schemas) = schema["allOf"].as_array() {
        // The others only restrict it.
        return schemas.first().map(kind).unwrap_or_default();
    }
    for either in ["oneOf", "anyOf"] {
        if let Some(schemas) = schema[either].as_array() {
            let kinds: Vec<String> = schemas.iter().map(kind).collect();
            return kinds.join(" or ");
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().map(|value| format!("`{}`", value.as_str().unwrap_or("null"))).collect();
        return values.join(", ");
    }
    match &schema["type"] {
        Value::Array(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|kind| named(string(kind), schema)).collect();
            kinds.join(" or ")
        }
        one => named(string(one), schema),
    }
}

/// The type of a value with its bounds and its default.
fn bounded(schema: &Value) -> String {
    let number = |name: &str| schema[name].as_u64();
    let bounds = match (number("minimum"), number("maximum"), number("maxLength"), number("maxItems")) {
        (Some(least), Some(most), ..) => format!(", {least} to {most}"),
        (_, _, Some(most), _) => format!(", at most {most} characters"),
        (.., Some(most)) => format!(", at most {most}"),
        _ => String::new(),
    };
    let default = number("default").map(|default| format!(", {default} by default"));
    format!("{}{bounds}{}", kind(schema), default.unwrap_or_default())
}

fn named(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("object of {}", kind(&schema["additionalProperties"]))
        }
        "integer" => "number".to_owned(),
        "string" if schema["format"] == "date-time" => "time".to_owned(),
        "string" if schema["format"] == "date" => "day".to_owned(),
        name => name.to_owned(),
    }
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn sentence(value: &Value) -> &str {
    string(value).trim()
}

/// A text in a cell of a table.
fn cell(value: &Value) -> String {
    string(value).trim().replace('\n', " ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_has_parameters_responses_and_an_example() {
        let description = json!({
            "info": {"description": "Makes things."},
            "tags": [{"name": "Things"}],
            "paths": {"/api/v1/things/{job}": {"post": {
                "tags": ["Things"], "summary": "Makes a thing.",
                "parameters": [
                    {"name": "Idempotency-Key", "in": "header", "required": true, "schema": {"type": "string", "maxLength": 64}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}},
                ],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}}}},
                "responses": {"201": {"description": "Made", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewThing"}}}}},
            }}},
            "components": {"schemas": {"NewThing": {
                "type": "object", "description": "A thing.", "required": ["name"],
                "properties": {"name": {"type": "string", "description": "Its name."}, "size": {"type": ["integer", "null"]}},
            }, "Color": {"type": "string", "enum": ["red"], "description": "- `red`: as a rose."}, "RedThing": {
                "description": "A red thing.", "allOf": [{"$ref": "#/components/schemas/NewThing"}, {"$ref": "#/components/schemas/Red"}],
            }}},
        });
        let text = markdown(&description, "https://docket.example.com");
        for part in [
            "Makes things.\n",
            "## Things\n",
            "### POST `/api/v1/things/{job}`\n\nMakes a thing.\n",
            "| `Idempotency-Key` (required) | header | string, at most 64 characters |  |\n",
            "| `limit` | query | number, 1 to 9, 5 by default |  |\n",
            "| 201 | **NewThing** | Made |\n",
            "--json '{\"name\":\"…\"}' \\\n  https://docket.example.com/api/v1/things/$JOB\n",
            "| `name` | string | Its name. |\n",
            "| `size` (optional) | number or null |  |\n",
            "### Color\n\n- `red`: as a rose.\n",
            "### RedThing\n\nA red thing.\n\nIt has the fields of **NewThing** and **Red**.\n",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
