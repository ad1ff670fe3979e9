//! The reference of the JSON API, from its OpenAPI description. Texts are Markdown.

mod example;

use std::fmt::Write;

use serde_json::{Map, Value};

use example::example;
use model::api_reference::{Endpoint, Group, Object, Reference};

/// The reference of what `description` describes.
pub(super) fn of(description: &Value, errors: String) -> Reference {
    let none = Map::new();
    let paths = description["paths"].as_object().unwrap_or(&none);
    let groups = tags(description).map(|tag| Group {
        name: tag.to_owned(),
        endpoints: endpoints(paths)
            .filter(|(_, _, endpoint)| tag_of(endpoint) == tag)
            .map(|(path, method, endpoint)| read(description, path, method, endpoint))
            .collect(),
    });
    let schemas = description["components"]["schemas"].as_object().unwrap_or(&none);
    Reference {
        introduction: sentence(&description["info"]["description"]).to_owned(),
        groups: groups.collect(),
        objects: schemas.iter().filter_map(|(name, schema)| object(name, schema)).collect(),
        errors,
    }
}

/// `None` for a schema that is only a kind of text.
fn object(name: &str, schema: &Value) -> Option<Object> {
    let parts = schema["allOf"].as_array();
    if !schema["properties"].is_object() && !schema["enum"].is_array() && parts.is_none() {
        return None;
    }
    let mut text = format!("{}\n\n", sentence(&schema["description"]));
    if schema["properties"].is_object() {
        write_fields(&mut text, schema);
    }
    if let Some(parts) = parts {
        let parts: Vec<String> = parts.iter().map(kind).collect();
        _ = writeln!(text, "It has the fields of {}.", parts.join(" and "));
    }
    Some(Object { name: name.to_owned(), text })
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

fn read(description: &Value, path: &str, method: &str, endpoint: &Value) -> Endpoint {
    let mut text = format!("{}\n\n", sentence(&endpoint["summary"]));
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
    text.push_str("\n| status | response | |\n|---|---|---|\n");
    let mut response = None;
    for (status, described) in endpoint["responses"].as_object().into_iter().flatten() {
        // Errors are the same everywhere, and described once.
        if !status.starts_with(['2', '3']) {
            continue;
        }
        let content = described["content"].as_object().and_then(|content| content.values().next());
        let schema = content.map(|content| &content["schema"]);
        let returned = schema.map(kind).unwrap_or_default();
        _ = writeln!(text, "| {status} | {returned} | {} |", cell(&described["description"]));
        response = response.or(schema);
    }
    Endpoint {
        method: method.to_uppercase(),
        path: path.to_owned(),
        text,
        response: response.map(|schema| pretty(&example(description, schema))),
        body: body.is_object().then(|| pretty(&example(description, body))),
        has_key: parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key"),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
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
            name => format!("[{name}](#{name})"),
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
    use serde_json::json;

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
                "type": "object", "description": "A thing.", "required": ["name"], "example": {"name": "docs"},
                "properties": {"name": {"type": "string", "description": "Its name."}, "size": {"type": ["integer", "null"]}},
            }, "Color": {"type": "string", "enum": ["red"], "description": "- `red`: as a rose."}, "RedThing": {
                "description": "A red thing.", "allOf": [{"$ref": "#/components/schemas/NewThing"}, {"$ref": "#/components/schemas/Red"}],
            }}},
        });
        let reference = of(&description, "| code |".to_owned());
        let [things] = &*reference.groups else { panic!("there is one group") };
        let [endpoint] = &*things.endpoints else { panic!("there is one endpoint") };
        let objects = reference.objects.iter().map(|object| format!("### {}\n{}", object.name, object.text));
        let command = endpoint.command("https://docket.example.com", "docs");
        let parts = [
            &*reference.introduction,
            &things.name,
            &endpoint.method,
            &endpoint.path,
            &endpoint.text,
            &command,
        ];
        let text = parts.map(str::to_owned).into_iter().chain(objects).collect::<Vec<_>>().join("\n");
        for part in [
            "Makes things.\n",
            "Things\nPOST\n/api/v1/things/{job}\nMakes a thing.\n",
            "| `Idempotency-Key` (required) | header | string, at most 64 characters |  |\n",
            "| `limit` | query | number, 1 to 9, 5 by default |  |\n",
            "| 201 | [NewThing](#NewThing) | Made |\n",
            "curl \"https://docket.example.com/api/v1/things/$JOB\" \\\n",
            "  -H \"Idempotency-Key: $KEY\" \\\n  --json '{\n  \"name\": \"docs\"\n}'",
            "| `name` | string | Its name. |\n",
            "| `size` (optional) | number or null |  |\n",
            "### Color\n- `red`: as a rose.\n",
            "### RedThing\nA red thing.\n\nIt has the fields of [NewThing](#NewThing) and [Red](#Red).\n",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }
}
