//! Tokens for machines.

use super::list::{Asked, Entry, ListParams};
use super::page::{Listed, PageParams, Params, Segment};
use crate::auth::caller::TOKEN_PREFIX;
use crate::auth::{Administrator, Role};
use crate::clock;
use crate::form::Form;
use crate::problem::Problem;
use crate::secret;
use crate::state::Shared;
use crate::store::TokenRow;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cmp::Ordering;
use utoipa::{IntoParams, ToSchema};

/// The longest that a token may be good for, in days.
const MAX_DAYS: i64 = 366;

/// A token for a machine.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Token {
    /// What it is revoked by.
    id: String,
    /// What it is for.
    name: String,
    /// What it may do.
    role: Role,
    /// Who made it.
    created_by: String,
    /// When, in milliseconds since 1970.
    created_at: i64,
    /// Until when it is good.
    expires_at: i64,
    /// When it was last used, to the minute.
    last_used_at: Option<i64>,
}

/// A new token.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "describes what is read field by field")]
pub(crate) struct NewToken {
    /// What it is for.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// What it may do.
    role: Role,
    /// For how many days it is good.
    #[schema(minimum = 1, maximum = 366, default = 90)]
    expires_in_days: Option<i64>,
}

/// A token with its secret, told this once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TokenWithSecret {
    #[serde(flatten)]
    token: Token,
    /// What to send as `Authorization: Bearer`.
    secret: String,
}

/// Which tokens to list, and how.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListTokens {
    /// Only those of this role.
    #[param(inline)]
    role: Option<Role>,
    /// Only those that they made.
    created_by: Option<String>,
    /// What to sort by.
    #[param(inline)]
    sort: Option<SortTokens>,
}

/// What tokens are sorted by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SortTokens {
    /// When they were made.
    #[default]
    CreatedAt,
    /// What they are for.
    Name,
    /// Until when they are good.
    ExpiresAt,
    /// When they were last used.
    LastUsedAt,
}

impl Entry for Token {
    type Sort = SortTokens;

    fn name(&self) -> &str {
        &self.name
    }

    fn compare(&self, other: &Self, by: SortTokens) -> Ordering {
        match by {
            SortTokens::CreatedAt => self.created_at.cmp(&other.created_at),
            SortTokens::Name => self.name.cmp(&other.name),
            SortTokens::ExpiresAt => self.expires_at.cmp(&other.expires_at),
            SortTokens::LastUsedAt => self.last_used_at.cmp(&other.last_used_at),
        }
    }

    fn is_time(by: SortTokens) -> bool {
        !matches!(by, SortTokens::Name)
    }
}

/// Lists the tokens of machines.
#[utoipa::path(get, path = "/api/v1/tokens", tag = "users", params(PageParams, ListParams, ListTokens),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 200, description = "a page of tokens", body = Listed<Token>)))]
pub(crate) async fn list_tokens(
    State(admin): State<Shared>,
    _: Administrator,
    asked: Asked,
    Params(params): Params<ListTokens>,
) -> Result<Json<Listed<Token>>, Problem> {
    let all = admin.store.tokens().await?.into_iter().filter_map(shown);
    let wanted = all.filter(|token| {
        params.role.is_none_or(|role| role == token.role)
            && params.created_by.as_ref().is_none_or(|maker| *maker == token.created_by)
    });
    Ok(Json(asked.page(wanted, params.sort)))
}

/// Makes a token for a machine.
#[utoipa::path(post, path = "/api/v1/tokens", tag = "users", request_body = NewToken,
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 201, description = "it was made", body = TokenWithSecret)))]
pub(crate) async fn create_token(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    mut form: Form,
) -> Result<(StatusCode, Json<TokenWithSecret>), Problem> {
    let name = form.text("name", 1..=100);
    let role = form.role();
    let days = form.whole("expires_in_days", 1..=MAX_DAYS).unwrap_or(90);
    form.finish()?;
    let (id, secret) = (secret::hex(&secret::bytes::<8>()?), secret::token()?);
    let owner = caller.account();
    let account = admin.store.user(owner).await?.ok_or_else(|| Problem::unauthorized("no such account"))?;
    // The clock of the node that made the account may be ahead of ours, and a token is no older than its account.
    let now = clock::wall().max(account.created_at);
    let row = TokenRow {
        id: id.clone(),
        name: name.clone(),
        hash: secret::digest(&secret),
        role: role.unwrap_or(Role::Viewer).name().into(),
        created_by: owner.to_owned(),
        created_at: now,
        expires_at: now + days * 86_400_000,
        last_used_at: None,
    };
    admin.store.add_token(&row).await?;
    let after = json!({"name": name, "role": row.role, "expires_at": row.expires_at});
    admin.audit(&caller, "token.create", &id, None, Some(&after)).await?;
    let token = shown(row).ok_or_else(|| Problem::not_found("token", &id))?;
    Ok((
        StatusCode::CREATED,
        Json(TokenWithSecret { token, secret: format!("{TOKEN_PREFIX}_{id}_{secret}") }),
    ))
}

/// Revokes a token. One that is not there is as good as revoked.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "users", params(("id" = String, Path,)),
    extensions(("x-required-role" = json!("admin"))),
    responses((status = 204, description = "it is good no longer")))]
pub(crate) async fn delete_token(
    State(admin): State<Shared>,
    Administrator(caller): Administrator,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id = id.replace('\0', "\u{fffd}");
    let token = admin.store.token(&id).await?;
    if admin.store.delete_token(&id).await? {
        let before = token
            .map(|token| json!({"name": token.name, "role": token.role, "expires_at": token.expires_at}));
        admin.audit(&caller, "token.delete", &id, before.as_ref(), None).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

fn shown(token: TokenRow) -> Option<Token> {
    Some(Token {
        role: Role::parse(&token.role)?,
        id: token.id,
        name: token.name,
        created_by: token.created_by,
        created_at: token.created_at,
        expires_at: token.expires_at,
        last_used_at: token.last_used_at,
    })
}
