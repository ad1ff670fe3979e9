//! The reference of the JSON API, as its page shows it. Texts are Markdown.

/// The whole reference.
pub struct Reference {
    pub introduction: String,
    pub groups: Vec<Group>,
    pub objects: Vec<Object>,
    /// The table of error codes.
    pub errors: String,
}

/// Endpoints about the same thing.
pub struct Group {
    pub name: String,
    pub endpoints: Vec<Endpoint>,
}

pub struct Endpoint {
    /// In capitals.
    pub method: String,
    pub path: String,
    pub text: String,
    /// The response of a request that succeeds, as JSON. It has `{project}` in place of an id.
    pub response: Option<String>,
    /// The body of a request, as JSON.
    pub body: Option<String>,
    /// Whether a request has an `Idempotency-Key`.
    pub has_key: bool,
}

/// An object of requests and responses.
pub struct Object {
    pub name: String,
    pub text: String,
}

impl Endpoint {
    /// A command line that sends a request to the server at `origin`.
    pub fn command(&self, origin: &str, project: &str) -> String {
        let path =
            self.path.replace("{project}", project).replace("{job}", "$JOB").replace("{batch}", "$BATCH");
        let mut command = format!("curl \"{origin}{path}\" \\\n  -H \"Authorization: Bearer $DOCKET_TOKEN\"");
        if self.has_key {
            command.push_str(" \\\n  -H \"Idempotency-Key: $KEY\"");
        }
        let end = match &self.body {
            Some(body) => format!(" \\\n  --json '{body}'"),
            None if self.method == "POST" => " \\\n  -X POST".to_owned(),
            None => String::new(),
        };
        command + &end
    }
}
