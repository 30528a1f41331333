//! The API: one file for each noun.

#![expect(unused_qualifications, reason = "the macro that describes routes writes them")]

pub(crate) mod alerts;
pub(crate) mod apps;
mod audit;
mod balance;
mod clusters;
mod connections;
pub(crate) mod decisions;
pub(crate) mod emergency;
mod etag;
mod health;
mod import;
mod list;
mod loans;
pub(crate) mod metrics;
pub(crate) mod nodes;
pub(crate) mod openapi;
mod page;
mod rules;
mod session;
mod tokens;
mod users;
mod versions;
mod webhooks;
mod whatif;
mod ws;

use crate::form::MAX_BODY;
use crate::state::Shared;
use axum::extract::DefaultBodyLimit;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The most bytes of a policy that is imported.
const MAX_IMPORT: usize = 16 << 20;

/// All routes, with what they are described by.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    let import =
        OpenApiRouter::new().routes(routes!(import::import)).layer(DefaultBodyLimit::max(MAX_IMPORT));
    let rest = OpenApiRouter::new()
        .routes(routes!(apps::list, apps::create))
        .routes(routes!(apps::get, apps::put, apps::delete))
        .routes(routes!(apps::reset))
        .routes(routes!(loans::borrow))
        .routes(routes!(loans::repay))
        .routes(routes!(whatif::what_if))
        .routes(routes!(clusters::list))
        .routes(routes!(clusters::get, clusters::put))
        .routes(routes!(balance::balance))
        .routes(routes!(clusters::reconcile))
        .routes(routes!(connections::list))
        .routes(routes!(connections::stats))
        .routes(routes!(connections::put))
        .routes(routes!(connections::events))
        .routes(routes!(emergency::status))
        .routes(routes!(emergency::activate))
        .routes(routes!(emergency::deactivate))
        .routes(routes!(emergency::history))
        .routes(routes!(metrics::overall))
        .routes(routes!(metrics::of_application))
        .routes(routes!(metrics::of_connections))
        .routes(routes!(metrics::dashboard))
        .routes(routes!(nodes::list))
        .routes(routes!(audit::list))
        .routes(routes!(versions::list))
        .routes(routes!(versions::get))
        .routes(routes!(versions::diff))
        .routes(routes!(versions::rollback))
        .routes(routes!(import::export))
        .routes(routes!(alerts::list))
        .routes(routes!(alerts::acknowledge))
        .routes(routes!(alerts::resolve))
        .routes(routes!(rules::rules))
        .routes(routes!(rules::rule, rules::put_rule))
        .routes(routes!(webhooks::webhooks, webhooks::add_webhook))
        .routes(routes!(webhooks::delete_webhook))
        .routes(routes!(decisions::list))
        .routes(routes!(decisions::explain))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::get, users::put, users::delete))
        .routes(routes!(users::reset_password))
        .routes(routes!(users::revoke))
        .routes(routes!(tokens::list_tokens, tokens::create_token))
        .routes(routes!(tokens::delete_token))
        .routes(routes!(session::login))
        .routes(routes!(session::refresh))
        .routes(routes!(session::logout))
        .routes(routes!(session::me))
        .routes(routes!(session::change_password))
        .routes(routes!(ws::ticket))
        .routes(routes!(ws::connect))
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .layer(DefaultBodyLimit::max(MAX_BODY));
    rest.merge(import)
}
