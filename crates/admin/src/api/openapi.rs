//! The description of the API, made from the code.

use crate::event::{Event, EventKind};
use crate::problem::{FieldError, Problem};
use utoipa::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, Ref, Response, ResponseBuilder, SecurityRequirement};

/// What the routes do not say about themselves.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tollgate admin API",
        description = "Accounts, applications, clusters, connections, emergencies, history, alerts and the audit of one Tollgate \
                       node and of the clusters it is part of. Times are milliseconds since 1970, amounts are whole tokens, except in \
                       the balance of a cluster. \
                       Errors are `application/problem+json` and list every wrong field at once.\n\n\
                       Log in at `/api/v1/login` and send the access token as `Authorization: Bearer`; machines send a token \
                       of their own the same way. `x-required-role` says who may use a route.\n\n\
                       The WebSocket at `/api/v1/ws` takes a ticket from `/api/v1/ws/ticket` and sends `Event`s: `metrics` \
                       every second, `alert`, `config_change` and `emergency` when they happen. \
                       `{\"subscribe\": [\"metrics\", \"refusals\"], \"app_id\": \"a\", \"reason\": \"app_exhausted\"}` chooses \
                       among them."
    ),
    components(schemas(Problem, FieldError, Event, EventKind)),
    tags(
        (name = "apps", description = "Applications and their quotas"),
        (name = "clusters", description = "What the hardware can stand"),
        (name = "connections", description = "Connections and their limits"),
        (name = "emergency", description = "Emergency mode"),
        (name = "metrics", description = "How things stand and went"),
        (name = "config", description = "Versions of policies"),
        (name = "alerts", description = "What is not as it should be"),
        (name = "decisions", description = "Why a request was decided as it was"),
        (name = "audit", description = "Who did what"),
        (name = "users", description = "Accounts and tokens"),
        (name = "session", description = "Logging in and out"),
        (name = "live", description = "What happens, as it happens"),
        (name = "health", description = "For load balancers and supervisors"),
    )
)]
struct Base;

/// What may be answered besides what the routes say, and where.
const PROBLEMS: [(&str, &str, Where); 9] = [
    ("400", "the request is not valid", Where::Input),
    ("401", "who is calling is not known", Where::Api),
    ("403", "the caller may not do this", Where::Api),
    ("404", "there is no such thing", Where::Named),
    ("409", "something else is in the way", Where::Change),
    ("412", "it has changed meanwhile", Where::Change),
    ("413", "the body is too large", Where::Body),
    ("415", "the body is not JSON", Where::Body),
    ("429", "too many requests", Where::Everywhere),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Everywhere,
    /// Under `/api`.
    Api,
    /// Where there is anything to get wrong.
    Input,
    /// Where something is named in the path.
    Named,
    /// Where something is changed.
    Change,
    /// Where there is a body.
    Body,
}

/// The description of all routes.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    finish(
        utoipa_axum::router::OpenApiRouter::with_openapi(Base::openapi())
            .merge(super::routes())
            .into_openapi(),
    )
}

/// Adds what is the same for all routes.
fn finish(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().add_security_scheme("bearer", bearer);
    let requirement = SecurityRequirement::new("bearer", Vec::<String>::new());
    document.security = Some(vec![requirement]);
    for (path, item) in &mut document.paths.paths {
        let operations =
            [(&mut item.get, false), (&mut item.put, true), (&mut item.post, true), (&mut item.delete, true)];
        for (operation, is_change) in operations {
            if let Some(operation) = operation {
                name(operation);
                add_problems(path, operation, is_change);
            }
        }
    }
    document
}

/// Several nouns can be listed: their names set them apart for programs that are made from the description.
fn name(operation: &mut Operation) {
    let noun = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    if let Some(verb) = &mut operation.operation_id {
        *verb = format!("{noun}_{verb}");
    }
}

fn add_problems(path: &str, operation: &mut Operation, is_change: bool) {
    let has_body = operation.request_body.is_some();
    let has_input =
        has_body || operation.parameters.as_ref().is_some_and(|parameters| !parameters.is_empty());
    for (status, description, place) in PROBLEMS {
        let is_here = match place {
            Where::Everywhere => true,
            Where::Api => path.starts_with("/api"),
            Where::Input => has_input,
            Where::Named => path.contains('{') || has_body,
            Where::Change => is_change,
            Where::Body => has_body,
        };
        if is_here && !operation.responses.responses.contains_key(status) {
            operation.responses.responses.insert(status.into(), problem(description).into());
        }
    }
    if path.starts_with("/api") {
        let unavailable = problem("the ledger or the database is out of reach");
        operation.responses.responses.entry("503".into()).or_insert_with(|| unavailable.into());
    }
}

fn problem(description: &str) -> Response {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().description(description).content("application/problem+json", content).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let document = serde_json::to_value(document()).unwrap();
        let paths = document["paths"].as_object().unwrap().values();
        let operations: Vec<_> = paths.flat_map(|item| item.as_object().unwrap().values()).collect();
        let names: BTreeSet<&str> =
            operations.iter().map(|operation| operation["operationId"].as_str().unwrap()).collect();
        assert_eq!(names.len(), operations.len());
        assert!(names.contains("apps_list") && names.contains("users_create_token"), "{names:?}");
    }

    #[test]
    fn whatever_can_be_changed_by_several_people_has_a_tag() {
        let document = serde_json::to_value(document()).unwrap();
        for (noun, id) in
            [("apps", "app_id"), ("clusters", "cluster_id"), ("users", "username"), ("alert-rules", "id")]
        {
            let item = &document["paths"][format!("/api/v1/{noun}/{{{id}}}")];
            let parameters = item["put"]["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|parameter| parameter["name"] == "If-Match"), "{noun}");
            assert!(item["put"]["responses"]["412"]["content"]["application/problem+json"].is_object());
            for method in ["get", "put"] {
                assert!(item[method]["responses"]["200"]["headers"]["ETag"].is_object(), "{method} {noun}");
            }
        }
    }
}
